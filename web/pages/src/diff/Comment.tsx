/* A word about a line: written below it, and shown there until it is sent. */

import type { KeyboardEvent, ReactNode } from "react";
import { say } from "../parts/parts";
import { Plain } from "../parts/Plain";
import { t } from "../words/words";
import { type Comment, comment, hasRoom, useComments } from "./comments";

const LONGEST = 1_000; // characters

/** Where it is about, as the coder reads it. */
export const place = (one: Pick<Comment, "path" | "line" | "side">): string => t(one.side === "old" ? "comment.place.old" : "comment.place", { path: one.path, line: one.line });

/** Its words lie with the rows: these come and go while somebody writes. */
export function Writing({ task, at, change, end }: { task: string; at: Comment; change: (text: string) => void; end: () => void }): ReactNode {
  const all = useComments(task);
  const text = at.text;
  function keep(): void {
    const said = { ...at, text: text.trim() };
    if (!hasRoom(all, said)) return say(t("comment.no.room"), true);
    comment(task, said);
    end();
  }
  const pressed = (event: KeyboardEvent): void => {
    if (event.key === "Escape" && (!text.trim() || all.some((one) => one.text === text))) end();
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) keep();
    event.stopPropagation();
  };
  return (
    <form
      className="comment"
      aria-label={place(at)}
      onKeyDown={pressed}
      onSubmit={(event) => {
        event.preventDefault();
        keep();
      }}
    >
      <label>
        {place(at)}
        <textarea ref={focused} dir="auto" maxLength={LONGEST} rows={2} value={text} onChange={(event) => change(event.target.value)} />
      </label>
      <div className="actions small">
        <button type="submit" className="main" disabled={!text.trim()}>
          {t("comment.keep")}
        </button>
        <button type="button" onClick={end}>
          {t("not.yet")}
        </button>
      </div>
    </form>
  );
}

const focused = (one: HTMLTextAreaElement | null): void => one?.focus();

export function Said({ task, one, change }: { task: string; one: Comment; change?: () => void }): ReactNode {
  return (
    <div className="comment">
      <p className="soft">
        <Plain text={place(one)} />
      </p>
      <p dir="auto" className="words">
        <Plain text={one.text} />
      </p>
      <div className="actions small">
        {change && (
          <button type="button" onClick={change}>
            {t("comment.change")}
          </button>
        )}
        <button type="button" onClick={() => comment(task, { ...one, text: "" })} aria-label={t("comment.remove.of", { place: place(one) })}>
          {t("comment.remove")}
        </button>
      </div>
    </div>
  );
}

/** What goes with the ruling; lines of a change that has moved on since are named. */
export function Comments({ task, commit }: { task: string; commit: string }): ReactNode {
  const all = useComments(task);
  if (!all.length) return null;
  return (
    <details className="opened">
      <summary>{t("comments.go", { count: all.length })}</summary>
      {all.map((one) => (
        <div key={`${one.side} ${one.line} ${one.path}`}>
          {one.commit !== commit && <p className="tag wait">{t("comment.moved", { commit: one.commit.slice(0, 8) })}</p>}
          <Said task={task} one={one} />
        </div>
      ))}
    </details>
  );
}
