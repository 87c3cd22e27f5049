/* What waits for the owner comes first, then what runs, money, what is done. */

import { type ReactNode, useState } from "react";
import { Link } from "wouter";
import { useRead } from "../api/reading";
import type { AskedAnswer, CappedAnswer, PendingAnswer, RunAnswer, StatusAnswer, TaskPageAnswer } from "../api/types";
import { MoneyBar } from "../parts/MoneyBar";
import { useOrder } from "../parts/ordering";
import { Lines, LinesPart, Part, Tag, Trouble, Waiting } from "../parts/parts";
import { Plain } from "../parts/Plain";
import { useWho } from "../parts/who";
import { lasting } from "../words/figures";
import { t, tOr } from "../words/words";

export function Today(): ReactNode {
  const status = useRead<StatusAnswer>("status");
  const facts = status.data?.value;
  const done = useRead<TaskPageAnswer>("tasks?state=completed&limit=5", Boolean(facts)); // what waits comes first
  const trouble = status.error && <Trouble problem={status.error} />;
  if (!facts) return trouble ?? <Waiting />;
  const asked = byGoal(facts.asked);
  const waits = facts.answers.length + asked.length;
  const moreWait = facts.more.answers;
  return (
    <>
      {trouble}
      <h1>{waits ? t("today.waits") : t("today.nothing")}</h1>
      {facts.answers.map((one, at) => (
        <Pending key={one.task || at} one={one} />
      ))}
      {moreWait ? <p className="soft">{t("and.more", { count: moreWait })}</p> : null}
      {asked.map((one) => (
        <Question key={one.goal} goal={one.goal} texts={one.texts} />
      ))}
      <LinesPart title="today.problems" of={facts.problems} />
      <Part title={t("today.runs")}>{facts.runs.length ? <Runs of={facts.runs} /> : <p className="soft">{quiet(facts)}</p>}</Part>
      <MoneyToday today={facts.today} month={facts.month} />
      <LinesPart title="today.live" of={facts.deploys} />
      <LinesPart title="today.gates" of={named(facts.at_the_gates)} more={facts.more.at_the_gates} />
      <LinesPart title="today.approved" of={named(facts.approved)} more={facts.more.approved} />
      <LinesPart title="today.ready" of={named(facts.ready)} more={facts.more.ready} />
      {done.data?.value.tasks.length ? (
        <Part title={t("today.done")}>
          <ul>
            {done.data.value.tasks.map((one) => (
              <li key={one.id} dir="auto">
                <Link href={`/task/${encodeURIComponent(one.id)}`}>
                  <Plain text={one.title || one.id} />
                </Link>
              </li>
            ))}
          </ul>
        </Part>
      ) : null}
      <LinesPart title="today.aside" of={named(facts.set_aside)} more={facts.more.set_aside} />
      <LinesPart title="today.unreadable" of={facts.unreadable} more={facts.more.unreadable} />
      <LinesPart title="today.notes" of={facts.guards} />
    </>
  );
}

/** Without the task's id before its title: whoever needs it sees it on the task's page. */
const named = (lines: readonly string[]): string[] => lines.map((one) => one.replace(/^\S+ {2}/, ""));

function quiet({ daemon }: StatusAnswer): string {
  const first = daemon.waits_for[0];
  return first ? t("runs.waits", { why: first.why || first.what }) : t("runs.none");
}

// --- what waits ------------------------------------------------------------------------------------------------

function Pending({ one }: { one: PendingAnswer }): ReactNode {
  const id = encodeURIComponent(one.task);
  const { decides } = useWho();
  const isPlan = /\bapprove plan\b/.test(one.command);
  return (
    <article className={`item ${one.kind === "failed" ? "failed" : "waits"}`} data-row tabIndex={-1}>
      <p>
        <Tag tone="wait">{isPlan ? t("kind.plan") : one.kind ? t(`kind.${one.kind}`) : t("kind.word")}</Tag>
      </p>
      {one.task ? (
        <>
          <p className="title" dir="auto">
            <Link href={isPlan ? "/plan" : one.kind === "stuck" ? `/task/${id}` : `/review/${id}`}>
              {isPlan ? t("page.plan") : <Plain text={one.title || one.task} />}
            </Link>
          </p>
          {one.reasons.length ? <Lines of={one.reasons} /> : <p className="soft">{<Plain text={one.text} />}</p>}
          <div className="actions">
            {isPlan && (
              <Link className="button main" data-key="a" href="/plan">
                {t("plan.look")}
              </Link>
            )}
            {one.kind === "change" && decides && (
              <Link className="button main" data-key="a" href={`/review/${id}?do=approve`}>
                {t("look.and.approve")}
              </Link>
            )}
            {one.kind === "change" && decides && (
              <Link className="button" data-key="r" href={`/review/${id}?do=retry`}>
                {t("do.sendback")}
              </Link>
            )}
            {one.kind === "failed" && decides && (
              <Link className="button main" data-key="r" href={`/task/${id}?do=retry`}>
                {t("do.retry")}
              </Link>
            )}
          </div>
          {one.kind === "stuck" && <Typed commands={[one.command, ...one.others]} />}
        </>
      ) : (
        <Other one={one} />
      )}
    </article>
  );
}

/** About money or deploys: a button if the board has the order, and always what to type. */
function Other({ one }: { one: PendingAnswer }): ReactNode {
  const { busy, send } = useOrder(one.command);
  const { owns } = useWho();
  return (
    <>
      <p dir="auto">
        <Plain text={one.text} />
      </p>
      <div className="actions">
        {owns && /\bresume-deploys\b/.test(one.command) && (
          <button type="button" className="main" disabled={busy} onClick={() => void send("deploys/pause", { paused: false })}>
            {t("deploys.resume")}
          </button>
        )}
        {owns && /\b(raise-cap|budget)\b/.test(one.command) && (
          <Link className="button main" href="/money">
            {t("money.raise")}
          </Link>
        )}
      </div>
      <Typed commands={[one.command, ...one.others]} />
    </>
  );
}

function Typed({ commands }: { commands: string[] }): ReactNode {
  return (
    <details>
      <summary>{t("at.the.terminal")}</summary>
      <pre>{commands.filter(Boolean).join("\n")}</pre>
    </details>
  );
}

/** One answer is to all that is asked about a goal. */
function byGoal(asked: readonly AskedAnswer[]): { goal: string; texts: string[] }[] {
  const found = new Map<string, string[]>();
  for (const one of asked) found.set(one.goal, [...(found.get(one.goal) ?? []), one.text]);
  return [...found].map(([goal, texts]) => ({ goal, texts }));
}

/** A message's link names the question: it is shown once it is there. */
function meant(shown: HTMLElement | null): void {
  if (shown && location.hash === `#${shown.id}`) shown.scrollIntoView({ block: "center" });
}

function Question({ goal, texts }: { goal: string; texts: string[] }): ReactNode {
  const [words, setWords] = useState("");
  const { busy, send } = useOrder(goal);
  const { decides, owns } = useWho();
  return (
    <article className="item waits" id={`asked-${goal}`} ref={meant} data-row tabIndex={-1}>
      <p>
        <Tag tone="wait">{t("kind.question")}</Tag>
      </p>
      {texts.map((text) => (
        <p key={text} dir="auto">
          <Plain text={text} />
        </p>
      ))}
      {goal.startsWith("n-") ? (
        <div className="actions">
          {owns && (
            <Link className="button main" href="/vision">
              {t("answer.note")}
            </Link>
          )}
        </div>
      ) : decides ? (
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void send("answers", { id: goal, text: words, asked: texts }).then((done) => done && setWords(""));
        }}
      >
        <label>
          {t("your.answer")}
          <textarea name={`answer ${goal}`} dir="auto" maxLength={1_000} rows={2} value={words} onChange={(event) => setWords(event.target.value)} />
        </label>
        <div className="actions">
          <button type="submit" className="main" disabled={busy || !words.trim()}>
            {t("answer")}
          </button>
        </div>
      </form>
      ) : null}
    </article>
  );
}

// --- what runs, and money --------------------------------------------------------------------------------------

function Runs({ of }: { of: readonly RunAnswer[] }): ReactNode {
  return (
    <ul>
      {of.map((one) => (
        <li key={one.agent + one.task} dir="auto">
          {tOr("agent", one.agent)}
          {one.title && ": "}
          {one.task ? (
            <Link href={`/task/${encodeURIComponent(one.task)}`}>
              <Plain text={one.title || one.task} />
            </Link>
          ) : null}{" "}
          <span className="soft">{one.alive ? lasting(one.seconds) : t("cut.off")}</span>
        </li>
      ))}
    </ul>
  );
}

function MoneyToday({ today, month }: { today: CappedAnswer; month: CappedAnswer }): ReactNode {
  return (
    <Part title={t("today.money")}>
      <MoneyBar label={t("money.today")} of={today} />
      <MoneyBar label={t("money.month")} of={month} />
      <p>
        <Link href="/money">{t("money.more")}</Link>
      </p>
    </Part>
  );
}
