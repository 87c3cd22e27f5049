/* What was said to models for a task, and what was done for its goal: read when somebody opens it. */

import { type ReactNode, useState } from "react";
import { useRead } from "../api/reading";
import type { CallAnswer, NothingAnswer, TalkAnswer, TraceAnswer } from "../api/types";
import { Tag, Trouble, Waiting } from "../parts/parts";
import { Plain } from "../parts/Plain";
import { count, dollars, moment } from "../words/figures";
import { t, tOr } from "../words/words";

/** Its summary; what is inside is read once it is open. */
export function Opened({ title, children }: { title: string; children: () => ReactNode }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="opened" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary data-row>{title}</summary>
      {isOpen && children()}
    </details>
  );
}

// --- talk ------------------------------------------------------------------------------------------------------

export function Talk({ id }: { id: string }): ReactNode {
  const [pages, setPages] = useState([""]); // cursors
  return pages.map((cursor, at) => <Calls key={cursor} id={id} cursor={cursor} more={at === pages.length - 1 ? (next) => setPages([...pages, next]) : undefined} />);
}

function Calls({ id, cursor, more }: { id: string; cursor: string; more: ((next: string) => void) | undefined }): ReactNode {
  const { data, error } = useRead<TalkAnswer>(`tasks/${encodeURIComponent(id)}/talk?cursor=${encodeURIComponent(cursor)}`);
  if (!data) return error ? <Trouble problem={error} /> : <Waiting />;
  const { calls, next } = data.value;
  return (
    <>
      {!calls.length && !cursor && <p className="soft">{t("talk.none")}</p>}
      {calls.map((one) => (
        <article key={one.number} className="item" data-row tabIndex={-1}>
          <p>
            <b>{tOr("agent", one.agent)}</b> <time dateTime={one.at}>{moment(one.at)}</time> <span className="soft">{t("talk.sums", { model: one.model, tokens: count(one.tokens_in + one.tokens_out), amount: dollars(one.amount) })}</span>{" "}
            {one.state !== "settled" && <Tag tone="bad">{tOr("call", one.state)}</Tag>}
          </p>
          {(one.note || one.trouble) && (
            <p className="soft" dir="auto">
              <Plain text={[one.note, one.trouble].filter(Boolean).join("; ")} />
            </p>
          )}
          {spoken(one).map(([who, text], at) => (
            <details key={at} open={who === "answer"}>
              <summary>{tOr("who", who)}</summary>
              <pre dir="auto">
                <Plain text={text} />
              </pre>
            </details>
          ))}
          {one.left_out > 0 && <p className="soft">{t("talk.left.out", { count: count(one.left_out) })}</p>}
        </article>
      ))}
      {next && more && (
        <button type="button" onClick={() => more(next)}>
          {t("talk.more")}
        </button>
      )}
    </>
  );
}

type Said = [who: string, text: string];

/** Who said what, in order: system, user, tool, then the answer. */
function spoken({ request, answer }: CallAnswer): Said[] {
  if (request === null || request === undefined) return parts("answer", answer);
  if (typeof request !== "object") return [["user", String(request)], ...parts("answer", answer)];
  const { system, messages } = request as { system?: unknown; messages?: { role?: string; content?: unknown }[] };
  return [...parts("system", system), ...(messages ?? []).flatMap((one) => parts(one.role ?? "", one.content)), ...parts("answer", answer)];
}

function parts(who: string, content: unknown): Said[] {
  if (typeof content === "string") return content ? [[who, content]] : [];
  if (!Array.isArray(content)) return [];
  return content.flatMap((block: Record<string, unknown>): Said[] => {
    if (block.type === "text" || block.type === "thinking") return [[who, String(block[block.type] ?? "")]];
    if (block.type === "tool_result") return parts("tool", block.content);
    const { type: _, ...rest } = block;
    return [[who, JSON.stringify(rest, null, 1)]];
  });
}

// --- trace -----------------------------------------------------------------------------------------------------

export function Trace({ id }: { id: string }): ReactNode {
  const { data, error } = useRead<TraceAnswer | NothingAnswer>(`tasks/${encodeURIComponent(id)}/trace`);
  if (!data) return error ? <Trouble problem={error} /> : <Waiting />;
  if (!("kind" in data.value)) return <p className="soft">{t("trace.none")}</p>;
  return (
    <ol className="timeline">
      <Branch of={data.value} />
    </ol>
  );
}

function Branch({ of }: { of: TraceAnswer }): ReactNode {
  return (
    <li className={of.is_asked ? "asked" : undefined} dir="auto">
      <time dateTime={of.at}>{moment(of.at)}</time> <b>{tOr("trace", of.kind)}</b> <Plain text={[of.outcome, of.text || of.name].filter(Boolean).join(": ")} />
      {of.cost.calls > 0 && <span className="soft"> {dollars(of.cost.amount)}</span>}
      {of.parts.length > 0 && (
        <ol className="timeline">
          {of.parts.map((one, at) => (
            <Branch key={at} of={one} />
          ))}
        </ol>
      )}
    </li>
  );
}
