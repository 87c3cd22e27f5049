/* All about a task: its words, how often it was tried, what it cost, what happened to it, and what was said to models for it. */

import type { ReactNode } from "react";
import { Link, useSearchParams } from "wouter";
import { useRead } from "../api/reading";
import type { ReviewAnswer, TaskAnswer } from "../api/types";
import { Actions, type Ruling } from "../parts/Decide";
import { LinesPart, Part, Standing, Tag, Trouble, Waiting } from "../parts/parts";
import { Plain } from "../parts/Plain";
import { dollars, moment, nano } from "../words/figures";
import { t, tOr } from "../words/words";
import { Opened, Talk, Trace } from "./Talk";

export default function Task({ id }: { id: string }): ReactNode {
  const [query] = useSearchParams();
  const task = useRead<TaskAnswer>(`tasks/${encodeURIComponent(id)}`);
  const review = useRead<ReviewAnswer>(`tasks/${encodeURIComponent(id)}/review`);
  const problem = task.error ?? review.error;
  if (!task.data || !review.data) return problem ? <Trouble problem={problem} /> : <Waiting />;
  const facts = task.data.value;
  const seen = review.data.value;
  const [, head = "", words = facts.text] = /^---\n(.*?)\n---\n(.*)$/s.exec(facts.text) ?? [];
  return (
    <>
      {problem && <Trouble problem={problem} />}
      <h1 dir="auto">
        <Plain text={facts.title || id} />
      </h1>
      <p className="soft">
        {[t(`state.${facts.state}`), id, facts.branch && t("goes.into", { branch: facts.branch })].filter(Boolean).join(" · ")}
      </p>
      {seen.waits && (
        <p>
          <Tag tone="wait">{t("waits.for.you")}</Tag>
        </p>
      )}
      {seen.commit && (
        <p>
          <Link className="button" href={`/review/${encodeURIComponent(id)}`}>
            {t("see.the.change")}
          </Link>{" "}
          {t("evidence")}: <Standing word={seen.evidence.standing} /> {t("verdict")}: <Standing word={seen.verdict.standing} />
        </p>
      )}
      <Part title={t("attempts")}>
        {facts.attempts.length ? (
          <ol className="plain-list">
            {facts.attempts.map((one) => (
              <li key={one.key} dir="auto">
                <b>{one.number ?? "–"}</b> {tOr("outcome", one.outcome)} <Plain text={one.note} />
                {one.refused.length > 0 && <span className="soft"> {t("refused.to.write", { files: one.refused.join(", ") })}</span>}
              </li>
            ))}
          </ol>
        ) : (
          <p className="soft">{t("attempts.none")}</p>
        )}
      </Part>
      {"spent" in facts.cost && (
        <Part title={t("cost")}>
          <p>
            {t("money.is.spent", { amount: dollars(facts.cost.spent) })}
            {nano(facts.cost.lost) > 0 ? `, ${t("money.is.lost", { amount: dollars(facts.cost.lost) })}` : ""}
          </p>
        </Part>
      )}
      <Part title={t("its.words")}>
        <pre dir="auto" className="words">
          <Plain text={words.trim()} />
        </pre>
        {head && (
          <details>
            <summary>{t("its.head")}</summary>
            <pre>
              <Plain text={head} />
            </pre>
          </details>
        )}
      </Part>
      <LinesPart title="said.about.it" of={facts.words} />
      <LinesPart title="begins.without" of={facts.unblocked.map((one) => `${one.from === "(plan)" ? t("begins.plan") : one.from} ${one.why}`)} />
      {facts.pulls.length > 0 && (
        <Part title={t("pull.request")}>
          <ul>
            {facts.pulls.map((one) => (
              <li key={one.number}>
                #{one.number} {one.state} {/^https:\/\//.test(one.url) ? <a href={one.url} rel="noreferrer noopener">{new URL(one.url).host}</a> : <Plain text={one.url} />}
              </li>
            ))}
          </ul>
        </Part>
      )}
      <Part title={t("history")}>
        <ol className="timeline">
          {facts.history.toReversed().map((one, at) => (
            <li key={at} dir="auto">
              <time dateTime={one.at}>{moment(one.at)}</time> {one.event} <span className="soft">→ {t(`state.${one.state}`)}</span> <Plain text={one.note} />
            </li>
          ))}
        </ol>
      </Part>
      <Opened title={t("talk")}>{() => <Talk id={id} />}</Opened>
      <Opened title={t("trace")}>{() => <Trace id={id} />}</Opened>
      <Actions id={id} state={facts.state} waits={seen.waits} first={(query.get("do") as Ruling | null) ?? undefined} />
    </>
  );
}
