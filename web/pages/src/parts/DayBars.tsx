/* A bar for each day: spent, reserved and lost on one another, and the cap as a line. Drawn here; no library. */

import type { ReactNode } from "react";
import type { MoneyDayAnswer } from "../api/types";
import { day, dollars, nano } from "../words/figures";
import { t } from "../words/words";

const PARTS = ["spent", "reserved", "lost"] as const;
const HIGH = 100;
const WIDE = 20; // of a day

export function DayBars({ of }: { of: readonly MoneyDayAnswer[] }): ReactNode {
  const used = (one: MoneyDayAnswer): number => PARTS.reduce((sum, part) => sum + nano(one[part]), 0);
  const most = Math.max(1, ...of.map(used), ...of.map((one) => nano(one.cap)));
  const first = of[0];
  const last = of.at(-1);
  if (!first || !last) return <p className="soft">{t("none")}</p>;
  return (
    <figure>
      <svg className="days" viewBox={`0 0 ${Math.max(of.length, 14) * WIDE} ${HIGH}`} preserveAspectRatio="none" role="img" aria-label={t("money.bars", { from: day(first.day), to: day(last.day) })}>
        {of.map((one, at) => {
          let top = HIGH;
          return (
            <g key={one.day}>
              <title>{`${day(one.day)}: ${dollars(one.spent)}`}</title>
              {PARTS.map((part) => {
                const height = (HIGH * nano(one[part])) / most;
                top -= height;
                return <rect key={part} className={part} x={at * WIDE + 3} y={top} width={WIDE - 6} height={height} />;
              })}
              <line className="cap" x1={at * WIDE} x2={(at + 1) * WIDE} y1={HIGH - (HIGH * nano(one.cap)) / most} y2={HIGH - (HIGH * nano(one.cap)) / most} />
            </g>
          );
        })}
      </svg>
      <figcaption className="soft">
        {day(first.day)} – {day(last.day)}; <span className="key spent">{t("money.head.spent")}</span> <span className="key reserved">{t("money.head.reserved")}</span> <span className="key lost">{t("money.head.lost")}</span>{" "}
        <span className="key cap">{t("money.head.cap")}</span>
      </figcaption>
    </figure>
  );
}
