/* Five folders, five columns. To move a card is to say what moving its file says; it is asked before it is done. */

import { type DragEvent, memo, type ReactNode, useCallback, useRef, useState } from "react";
import { Link, useSearchParams } from "wouter";
import { useRead } from "../api/reading";
import { STATES, type TaskState } from "../api/states";
import type { PlacedGoalAnswer, StatusAnswer, TaskPageAnswer, TaskRowAnswer } from "../api/types";
import { useIsWide } from "../look";
import { Decide, type Ruling, rulings, wordOf } from "../parts/Decide";
import { say, Tag, Trouble, Waiting } from "../parts/parts";
import { Plain } from "../parts/Plain";
import { useWho } from "../parts/who";
import { t, tOr } from "../words/words";

const ROWS = 25; // of a column at a time: a phone draws them within one frame
const WIDE = 900;
const WAITS = /^waits for you: /; // so the board says it, with the reasons
/** What it says to put a card of one column into another. */
const MOVES: Partial<Record<TaskState, Partial<Record<TaskState, Ruling>>>> = {
  backlog: { failed: "cancel", completed: "done" },
  in_progress: { backlog: "retry", failed: "cancel", completed: "done" },
  in_review: { backlog: "retry", failed: "reject", completed: "done" },
  failed: { backlog: "retry", completed: "done" },
};

interface Move {
  task: TaskRowAnswer;
  ruling: Ruling;
}

export default function Board(): ReactNode {
  const isWide = useIsWide(WIDE);
  const [query, setQuery] = useSearchParams();
  const status = useRead<StatusAnswer>("status");
  const goals = useRead<PlacedGoalAnswer[]>("goals");
  const [move, setMove] = useState<Move | null>(null);
  const dragged = useRef<TaskRowAnswer | null>(null);
  const shown = STATES.find((one) => one === query.get("state")) ?? "in_review";
  const goal = query.get("goal") ?? "";
  const facts = status.data?.value;
  const drag = useCallback((task: TaskRowAnswer) => void (dragged.current = task), []);

  function drop(to: TaskState): void {
    const task = dragged.current;
    dragged.current = null;
    if (!task || task.state === to) return;
    const ruling = MOVES[task.state]?.[to];
    if (ruling) setMove({ task, ruling });
    else say(t("move.nothing", { from: t(`state.${task.state}`), to: t(`state.${to}`) }), true);
  }

  return (
    <>
      <h1>{t("page.board")}</h1>
      {status.error && <Trouble problem={status.error} />}
      {goals.data && goals.data.value.length > 1 ? (
        <p>
          <label>
            {t("of.goal")}{" "}
            <select value={goal} onChange={(event) => setQuery({ state: shown, goal: event.target.value })}>
              <option value="">{t("all.goals")}</option>
              {goals.data.value.map((one) => (
                <option key={one.id} value={one.id}>
                  {one.title}
                </option>
              ))}
            </select>
          </label>
        </p>
      ) : null}
      {!isWide && (
        <nav className="tabs" aria-label={t("columns")}>
          {STATES.map((state) => (
            <Link key={state} href={`/board?state=${state}${goal && `&goal=${encodeURIComponent(goal)}`}`} replace aria-current={state === shown ? "true" : undefined}>
              {t(`state.${state}`)} <b>{facts?.tasks[state] ?? ""}</b>
            </Link>
          ))}
        </nav>
      )}
      <div className="columns">
        {STATES.filter((state) => isWide || state === shown).map((state) => (
          <Column key={state + goal} state={state} goal={goal} count={goal ? undefined : facts?.tasks[state]} move={setMove} drag={drag} drop={drop} isWide={isWide} />
        ))}
      </div>
      {move && <Moving key={move.task.id + move.ruling} {...move} end={() => setMove(null)} />}
    </>
  );
}

interface Columned {
  state: TaskState;
  goal: string;
  count: number | undefined;
  isWide: boolean;
  move: (move: Move) => void;
  drag: (task: TaskRowAnswer) => void;
  drop: (to: TaskState) => void;
}

function Column({ state, goal, count, isWide, move, drag, drop }: Columned): ReactNode {
  const [pages, setPages] = useState([""]); // cursors
  const [isOver, setOver] = useState(false);
  const more = useCallback((next: string) => setPages((before) => [...before, next]), []);
  const over = (event: DragEvent): void => {
    event.preventDefault();
    setOver(true);
  };
  return (
    <section
      className={isOver ? "column over" : "column"}
      aria-label={t(`state.${state}`)}
      onDragOver={isWide ? over : undefined}
      onDragLeave={() => setOver(false)}
      onDrop={() => {
        setOver(false);
        drop(state);
      }}
    >
      {isWide && (
        <h2>
          {t(`state.${state}`)} <span className="soft">{count ?? ""}</span>
        </h2>
      )}
      {pages.map((cursor, at) => (
        <Cards key={cursor} state={state} goal={goal} cursor={cursor} isWide={isWide} move={move} drag={drag} more={at === pages.length - 1 ? more : undefined} />
      ))}
    </section>
  );
}

interface Carded extends Omit<Columned, "count" | "drop"> {
  cursor: string;
  more: ((next: string) => void) | undefined;
}

/** A page of them. It is drawn anew if something of it changed, and not because a page comes behind it. */
const Cards = memo(function Cards({ state, goal, cursor, isWide, move, drag, more }: Carded): ReactNode {
  const { data, error } = useRead<TaskPageAnswer>(`tasks?limit=${ROWS}&state=${state}&goal=${encodeURIComponent(goal)}&cursor=${encodeURIComponent(cursor)}`);
  if (!data) return error ? <Trouble problem={error} /> : <Waiting />;
  const { tasks, next } = data.value;
  return (
    <>
      {tasks.map((one) => (
        <Card key={one.id} one={one} isWide={isWide} move={move} drag={drag} />
      ))}
      {!tasks.length && !cursor && <p className="soft">{t("none")}</p>}
      {next && more && (
        <button type="button" onClick={() => more(next)}>
          {t("older")}
        </button>
      )}
    </>
  );
});

function Card({ one, isWide, move, drag }: { one: TaskRowAnswer } & Pick<Carded, "isWide" | "move" | "drag">): ReactNode {
  const id = encodeURIComponent(one.id);
  const moves = useWho().decides ? rulings(one.state, false) : [];
  const note = one.note.replace(WAITS, "");
  const waits = note !== one.note;
  return (
    <article className={`item ${one.state === "failed" ? "failed" : waits || one.stuck ? "waits" : ""}`} data-row tabIndex={-1} draggable={isWide && moves.length > 0} onDragStart={() => drag(one)}>
      <p className="title" dir="auto">
        <Link href={one.state === "in_review" ? `/review/${id}` : `/task/${id}`}>
          <Plain text={one.title || one.id} />
        </Link>
      </p>
      {(waits || one.stuck) && (
        <p>
          <Tag tone="wait">{t(waits ? "waits.for.you" : "kind.stuck")}</Tag>
        </p>
      )}
      {note && (
        <p className="soft note" dir="auto">
          <Plain text={note} />
        </p>
      )}
      <p className="soft">{[tOr("priority", one.priority), one.attempts > 1 ? t("attempts.so.far", { count: one.attempts }) : "", one.id].filter(Boolean).join(" · ")}</p>
      {moves.length > 0 && (
        <details className="menu">
          <summary>{t("move")}</summary>
          <div className="actions">
            {moves.map((ruling) => (
              <button key={ruling} type="button" onClick={() => move({ task: one, ruling })}>
                {t(`do.${wordOf(ruling, one.state)}`)}
              </button>
            ))}
          </div>
        </details>
      )}
    </article>
  );
}

/** Says what the move means, and asks. */
function Moving({ task, ruling, end }: Move & { end: () => void }): ReactNode {
  const dialog = useRef<HTMLDialogElement | null>(null);
  const [why, setWhy] = useState("");
  return (
    <dialog
      ref={(one) => {
        dialog.current = one;
        if (one && !one.open) one.showModal();
      }}
      aria-label={task.title || task.id}
      onClose={end}
    >
      <h2 dir="auto">
        <Plain text={task.title || task.id} />
      </h2>
      <Decide id={task.id} ruling={ruling} why={why} setWhy={setWhy} end={() => dialog.current?.close()} />
    </dialog>
  );
}
