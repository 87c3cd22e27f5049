/* What was spent, by day, agent, model and task; what is left of the caps. */

import { type ReactNode, useState } from "react";
import { Link } from "wouter";
import { useRead } from "../api/reading";
import type { MoneyDayAnswer, StatusAnswer, TaskPageAnswer } from "../api/types";
import { DayBars } from "../parts/DayBars";
import { MoneyBar } from "../parts/MoneyBar";
import { useOrder } from "../parts/ordering";
import { useWho } from "../parts/who";
import { Part, Trouble, Waiting } from "../parts/parts";
import { Plain } from "../parts/Plain";
import { day, dollars, moment, nano } from "../words/figures";
import { t, tOr } from "../words/words";

const DAYS = 31;
const GROUPS = ["by_agent", "by_model", "by_task"] as const;
const MOST = 20;

export default function Money(): ReactNode {
  const money = useRead<MoneyDayAnswer[]>("money");
  const status = useRead<StatusAnswer>("status");
  const tasks = useRead<TaskPageAnswer>("tasks?limit=200");
  const titles = new Map(tasks.data?.value.tasks.map((one) => [one.id, one.title]));
  if (!money.data) return money.error ? <Trouble problem={money.error} /> : <Waiting />;
  const days = money.data.value.slice(-DAYS);
  const last = days.at(-1);
  return (
    <>
      <h1>{t("page.money")}</h1>
      {money.error && <Trouble problem={money.error} />}
      {status.data && (
        <>
          <MoneyBar label={t("money.today")} of={status.data.value.today} />
          <MoneyBar label={t("money.month")} of={status.data.value.month} />
        </>
      )}
      <RaiseCap cap={last?.cap ?? ""} />
      <Part title={t("money.by.day")}>
        <DayBars of={days} />
        <details>
          <summary>{t("in.figures")}</summary>
          <div className="scroll" tabIndex={0} role="region" aria-label={t("money.by.day")}>
            <table>
              <thead>
                <tr>
                  {(["day", "spent", "reserved", "lost", "cap"] as const).map((one) => (
                    <th key={one} scope="col">
                      {t(`money.head.${one}`)}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {days.toReversed().map((one) => (
                  <tr key={one.day}>
                    <th scope="row">{day(one.day, true)}</th>
                    {([one.spent, one.reserved, one.lost, one.cap] as const).map((amount, at) => (
                      <td key={at}>{dollars(amount)}</td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </details>
      </Part>
      {GROUPS.map((group) => (
        <Shares key={group} group={group} days={days} titles={titles} />
      ))}
      <Lost days={days} />
    </>
  );
}

/** What was used by each of them, in all the days that are shown. */
function Shares({ group, days, titles }: { group: (typeof GROUPS)[number]; days: readonly MoneyDayAnswer[]; titles: Map<string, string> }): ReactNode {
  const sums = new Map<string, { calls: number; used: number }>();
  for (const one of days)
    for (const [name, share] of Object.entries(one[group])) {
      const before = sums.get(name) ?? { calls: 0, used: 0 };
      sums.set(name, { calls: before.calls + share.calls, used: before.used + nano(share.spent) + nano(share.reserved) + nano(share.lost) });
    }
  const rows = [...sums].sort(([, one], [, other]) => other.used - one.used);
  if (!rows.length) return null;
  const most = Math.max(...rows.map(([, one]) => one.used), 1);
  return (
    <Part title={t(`money.${group}`)}>
      <div className="scroll" tabIndex={0} role="region" aria-label={t(`money.${group}`)}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t("money.head.who")}</th>
              <th scope="col">{t("money.head.calls")}</th>
              <th scope="col">{t("money.head.spent")}</th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, MOST).map(([name, one]) => (
              <tr key={name}>
                <th scope="row">
                  {name === "" ? t("no.single.task") : group === "by_task" ? <Link href={`/task/${encodeURIComponent(name)}`}><Plain text={titles.get(name) || name} /></Link> : group === "by_agent" ? tOr("agent", name) : <Plain text={name} />}
                  <svg className="share" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
                    <rect width={(100 * one.used) / most} height="4" />
                  </svg>
                </th>
                <td>{one.calls}</td>
                <td>{dollars((one.used / 1e9).toFixed(9))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > MOST && <p className="soft">{t("and.more", { count: rows.length - MOST })}</p>}
    </Part>
  );
}

function Lost({ days }: { days: readonly MoneyDayAnswer[] }): ReactNode {
  const calls = days.flatMap((one) => one.lost_calls);
  if (!calls.length) return null;
  return (
    <Part title={t("money.lost")}>
      <p className="soft">{t("money.lost.why")}</p>
      <ul>
        {calls.slice(0, MOST).map((one) => (
          <li key={one.number}>
            {moment(one.at)} {tOr("agent", one.agent)} {dollars(one.amount)} <span className="soft">{t("call.number", { number: one.number })}</span>
          </li>
        ))}
      </ul>
    </Part>
  );
}

function RaiseCap({ cap }: { cap: string }): ReactNode {
  const [amount, setAmount] = useState("");
  const { busy, send } = useOrder(`cap ${amount}`);
  if (!useWho().owns) return null;
  return (
    <details>
      <summary>{t("money.raise")}</summary>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void send("money/cap", { cap: amount.trim().replace(",", ".") }).then((done) => done && setAmount(""));
        }}
      >
        <p>{t("money.raise.means")}</p>
        <label>
          {t("money.raise.to")}
          <input type="text" inputMode="decimal" pattern="[0-9]{1,6}([.,][0-9]{1,2})?" placeholder={cap.slice(0, -7)} required value={amount} onChange={(event) => setAmount(event.target.value)} />
        </label>
        <div className="actions">
          <button type="submit" className="main" disabled={busy || !amount}>
            {t("money.raise")}
          </button>
        </div>
      </form>
    </details>
  );
}
