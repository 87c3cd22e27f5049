/* The plan that waits: its tasks, what they will cost, and the owner's yes or no to all of it. It names the plan that was read. */

import { type ReactNode, useEffect, useRef, useState } from "react";
import { Link } from "wouter";
import { useRead } from "../api/reading";
import type { PlanReviewAnswer, WaitingTaskAnswer } from "../api/types";
import { useOrder } from "../parts/ordering";
import { Asked, Part, Trouble, Waiting } from "../parts/parts";
import { Plain } from "../parts/Plain";
import { useWho } from "../parts/who";
import { count, day, dollars, moment } from "../words/figures";
import { t, tOr } from "../words/words";

type Answer = "approve" | "drop";

export default function Plan(): ReactNode {
  const { data, error } = useRead<PlanReviewAnswer>("plan/review");
  const { decides } = useWho();
  if (!data) return error ? <Trouble problem={error} /> : <Waiting />;
  const { days, mark, until } = data.value;
  return (
    <>
      <h1>{t("page.plan")}</h1>
      {error && <Trouble problem={error} />}
      {mark ? <p>{t("plan.until", { time: moment(until) })}</p> : <p>{t("plan.none")}</p>}
      {days.map((one) => (
        <Part key={one.day} title={t("plan.of", { day: day(one.day) })}>
          <p className="soft">{t("plan.cost", { amount: one.forecast ? dollars(one.forecast) : t("unknown"), count: count(one.planned) })}</p>
          {one.tasks.map((task) => (
            <Task key={task.id} one={task} />
          ))}
        </Part>
      ))}
      {mark && decides ? <Answers mark={mark} tasks={days.reduce((sum, one) => sum + one.tasks.length, 0)} /> : null}
    </>
  );
}

function Task({ one }: { one: WaitingTaskAnswer }): ReactNode {
  return (
    <article className="item waits" data-row tabIndex={-1}>
      <p className="title" dir="auto">
        <Link href={`/task/${encodeURIComponent(one.id)}`}>
          <Plain text={one.title || one.id} />
        </Link>
      </p>
      <p className="soft" dir="auto">
        <Plain text={[tOr("priority", one.priority), one.after.length ? t("plan.after", { tasks: one.after.join(", ") }) : "", one.why].filter(Boolean).join(" · ")} />
      </p>
      <Asked words={one.goal_words} said={one.said} />
      {one.files.length > 0 && (
        <p>
          <code>
            <Plain text={one.files.join(" ")} />
          </code>
        </p>
      )}
      <details>
        <summary>{t("its.words")}</summary>
        <p className="whole" dir="auto">
          <Plain text={one.text} />
        </p>
      </details>
    </article>
  );
}

function Answers({ mark, tasks }: { mark: string; tasks: number }): ReactNode {
  const [asked, setAsked] = useState<{ answer: Answer; mark: string } | null>(null); // of the plan that was there then
  const [why, setWhy] = useState("");
  const { busy, send } = useOrder(`plan ${asked?.answer} ${mark}`);
  const begin = useRef<HTMLHeadingElement>(null);
  useEffect(() => begin.current?.focus(), [asked]);
  const isStale = asked !== null && asked.mark !== mark;
  return (
    <section className="bar" aria-label={t("your.word")} onKeyDown={(event) => event.key === "Escape" && setAsked(null)}>
      {asked ? (
        <form
          className="decide"
          aria-label={t(`plan.ask.${asked.answer}`)}
          onSubmit={(event) => {
            event.preventDefault();
            void send("plan/rulings", { ruling: asked.answer, mark: asked.mark, why }).then(() => setAsked(null));
          }}
        >
          <h2 tabIndex={-1} ref={begin}>
            {t(`plan.ask.${asked.answer}`)}
          </h2>
          <p>{t(`plan.means.${asked.answer}`, { count: count(tasks) })}</p>
          <label>
            {t("why.if.record")}
            <textarea dir="auto" maxLength={1_000} rows={2} value={why} onChange={(event) => setWhy(event.target.value)} />
          </label>
          {isStale && <p className="tag bad">{t("plan.moved")}</p>}
          <div className="actions">
            <button type="submit" className={asked.answer === "approve" ? "main" : "main grave"} disabled={busy || isStale}>
              {t(`plan.yes.${asked.answer}`)}
            </button>
            <button type="button" onClick={() => setAsked(null)}>
              {t("not.yet")}
            </button>
          </div>
        </form>
      ) : (
        <div className="actions">
          <button type="button" className="main" data-key="a" onClick={() => setAsked({ answer: "approve", mark })}>
            {t("plan.do.approve")}
          </button>
          <button type="button" data-key="r" onClick={() => setAsked({ answer: "drop", mark })}>
            {t("plan.do.drop")}
          </button>
        </div>
      )}
    </section>
  );
}
