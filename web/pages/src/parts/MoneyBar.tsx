/* Spent, reserved and lost of a cap: in words first, and drawn. */

import type { ReactNode } from "react";
import type { CappedAnswer } from "../api/types";
import { dollars, nano } from "../words/figures";
import { t } from "../words/words";
import { Tag } from "./parts";

const PARTS = ["spent", "reserved", "lost"] as const;

export function MoneyBar({ label, of }: { label: string; of: CappedAnswer }): ReactNode {
  const cap = nano(of.cap);
  const used = PARTS.reduce((sum, part) => sum + nano(of[part]), 0);
  const whole = Math.max(cap, used, 1);
  let at = 0;
  const said = PARTS.filter((part) => part === "spent" || nano(of[part]) > 0).map((part) => t(`money.is.${part}`, { amount: dollars(of[part]) }));
  return (
    <div className="money">
      <p>
        <b>{label}</b> {said.join(", ")}; {t("money.of", { amount: dollars(of.cap) })} {used >= cap && cap > 0 && <Tag tone="bad">{t("money.reached")}</Tag>}
      </p>
      <svg className="bar-line" viewBox="0 0 1000 12" preserveAspectRatio="none" aria-hidden="true">
        <rect className="room" width="1000" height="12" />
        {PARTS.map((part) => {
          const from = at;
          const width = (1000 * nano(of[part])) / whole;
          at += width;
          return <rect key={part} className={part} x={from} width={width} height="12" />;
        })}
      </svg>
    </div>
  );
}
