/* The owner's word on a task: what it means, why, and once more "yes". It names the commit and the review that were read. */

import { type ReactNode, useEffect, useRef, useState } from "react";
import { useRead } from "../api/reading";
import { Comments } from "../diff/Comment";
import { forget, useComments } from "../diff/comments";
import type { TaskState } from "../api/states";
import type { ReviewAnswer, TaskAnswer } from "../api/types";
import { count, dollars } from "../words/figures";
import { t } from "../words/words";
import { useOrder } from "./ordering";
import { Lines, say, Trouble, Waiting } from "./parts";
import { useWho } from "./who";

export type Ruling = "approve" | "reject" | "retry" | "cancel" | "done";
const NEEDS_WORDS: readonly string[] = ["reject", "sendback"];
const LONGEST = 1_000; // characters

/** What can be said of a task that lies there. */
export function rulings(state: TaskState, waits: boolean): Ruling[] {
  if (state === "in_review") return waits ? ["approve", "retry", "reject", "done"] : ["retry", "reject", "done"];
  if (state === "failed") return ["retry", "done"];
  return state === "backlog" ? ["cancel", "done"] : state === "in_progress" ? ["retry", "cancel", "done"] : [];
}

/** Whether the coder would read what is said about lines of it. */
export const takesComments = (state: TaskState): boolean => state === "in_review" || state === "failed";

/** Which words tell of it: to send back what waits is not what "try again" is. */
export const wordOf = (ruling: Ruling, state: TaskState): "approve" | "reject" | "retry" | "cancel" | "done" | "sendback" | "withdraw" =>
  ruling !== "retry" ? ruling : state === "in_review" ? "sendback" : state === "in_progress" ? "withdraw" : "retry";

interface Deciding {
  id: string;
  ruling: Ruling;
  files?: string;
  why: string;
  setWhy: (words: string) => void;
  end: () => void;
}

export function Decide(asked: Deciding): ReactNode {
  const id = encodeURIComponent(asked.id);
  const review = useRead<ReviewAnswer>(`tasks/${id}/review`);
  const facts = useRead<TaskAnswer>(`tasks/${id}`);
  if (review.error && !review.data) return <Trouble problem={review.error} />;
  if (!review.data || !facts.data) return <Waiting />;
  return <Form {...asked} review={review.data.value} tag={review.data.tag} facts={facts.data.value} />;
}

interface Known extends Deciding {
  review: ReviewAnswer;
  tag: string;
  facts: TaskAnswer;
}

function Form({ id, ruling, files, why, setWhy, end, review, tag, facts }: Known): ReactNode {
  const [shown] = useState(tag); // of the review that was there when this was asked
  const comments = useComments(id);
  const goes = (ruling === "retry" || ruling === "reject") && takesComments(review.state) ? comments : [];
  const { busy, send } = useOrder(`${ruling} ${tag}`);
  const begin = useRef<HTMLElement | null>(null);
  useEffect(() => begin.current?.focus(), []);
  const word = wordOf(ruling, review.state);
  const needsWords = NEEDS_WORDS.includes(word);
  const isStale = ruling === "approve" && shown !== tag;

  async function press(): Promise<void> {
    if (needsWords && !why.trim() && (ruling === "reject" || !goes.length)) {
      begin.current?.focus();
      say(t("why.first"), true);
      return;
    }
    const body = { ruling, commit: review.commit, why, comments: goes.map(({ commit: _, ...one }) => one) };
    if (!(await send(`tasks/${encodeURIComponent(id)}/rulings`, body, { "If-Match": tag }))) return;
    if (goes.length) forget(id);
    end();
  }

  return (
    <form
      className="decide"
      aria-label={t(`ask.${word}`)}
      onSubmit={(event) => {
        event.preventDefault();
        void press();
      }}
    >
      {word === "approve" ? (
        <>
          <h2 tabIndex={-1} ref={(one) => void (begin.current = one)}>
            {t("ask.approve")}
          </h2>
          <p>{[t("commit", { commit: review.commit.slice(0, 8) }), files, "spent" in facts.cost ? t("cost.so.far", { amount: dollars(facts.cost.spent) }) : ""].filter(Boolean).join(" · ")}</p>
          {"passed" in review.evidence && review.evidence.not_seen.length ? (
            <>
              <p className="tag wait">{t("not.seen")}</p>
              <Lines of={review.evidence.not_seen} />
            </>
          ) : (
            <p className="soft">{t("not.seen.none")}</p>
          )}
          {comments.length > 0 && <p className="tag wait">{t("comments.stay", { count: comments.length })}</p>}
        </>
      ) : (
        <>
          <p>{t(`means.${word}`)}</p>
          <label>
            {needsWords ? t("why") : t("why.if")}
            <textarea ref={(one) => void (begin.current = one)} dir="auto" maxLength={LONGEST} rows={3} value={why} onChange={(event) => setWhy(event.target.value)} />
          </label>
          {goes.length > 0 && <Comments task={id} commit={review.commit} />}
        </>
      )}
      {isStale && <p className="tag bad">{t("moved.on")}</p>}
      <div className="actions">
        <button type="submit" className={ruling === "approve" ? "main" : "main grave"} disabled={busy || isStale}>
          {t(`yes.${word}`, { commit: review.commit.slice(0, 8) })}
        </button>
        <button type="button" onClick={end}>
          {t("not.yet")}
        </button>
      </div>
    </form>
  );
}

/** The bar below a task: what can be said of it, and what is being said. */
export function Actions({ id, state, waits, files, first }: { id: string; state: TaskState; waits: boolean; files?: string; first?: Ruling }): ReactNode {
  const can = useWho().decides ? rulings(state, waits) : [];
  const comments = useComments(id);
  const [asked, setAsked] = useState<Ruling | null>(first && can.includes(first) ? first : null);
  const [why, setWhy] = useState(""); // stays when something else is asked, or the task has moved
  const now = asked && can.includes(asked) ? asked : null;
  if (!can.length) return null;
  return (
    <section className="bar" aria-label={t("your.word")} onKeyDown={(event) => event.key === "Escape" && setAsked(null)}>
      {now ? (
        <Decide key={now} id={id} ruling={now} files={files} why={why} setWhy={setWhy} end={() => setAsked(null)} />
      ) : (
        <div className="actions">
          {can.map((ruling) => (
            <button key={ruling} type="button" className={ruling === "approve" ? "main" : ""} data-key={{ approve: "a", reject: "r", retry: "", cancel: "", done: "" }[ruling]} onClick={() => setAsked(ruling)}>
              {t(`do.${wordOf(ruling, state)}`)}
              {ruling === "retry" && takesComments(state) && comments.length > 0 && ` (${t("comments.count", { count: count(comments.length) })})`}
            </button>
          ))}
        </div>
      )}
    </section>
  );
}
