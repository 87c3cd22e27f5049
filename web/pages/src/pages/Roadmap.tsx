/* Which goal is probably done in which week, at which pace. An owner drags a goal to another week, or chooses it from its menu. */

import { type DragEvent, type ReactNode, useRef, useState } from "react";
import { useRead } from "../api/reading";
import type { FileAnswer, RoadmapAnswer, RoadmapGoalAnswer } from "../api/types";
import { useIsWide } from "../look";
import { useOrder } from "../parts/ordering";
import { LinesPart, Tag, Trouble, Waiting } from "../parts/parts";
import { Plain } from "../parts/Plain";
import { useWho } from "../parts/who";
import { day, dollars } from "../words/figures";
import { t } from "../words/words";

const LATER = "later";
const AHEAD = 8; // weeks that can be chosen

type Move = (goal: string, place: string) => void;

export default function Roadmap(): ReactNode {
  const { data, error } = useRead<RoadmapAnswer>("roadmap");
  const { owns } = useWho();
  const file = useRead<FileAnswer>("roadmap/file", owns);
  const digest = owns && file.data?.value.is_whole ? file.data.value.digest : "";
  const { busy, send } = useOrder(`roadmap ${digest}`);
  const dragged = useRef("");
  if (!data) return error ? <Trouble problem={error} /> : <Waiting />;
  const { weeks, later, pace, ends, own, problem } = data.value;
  const here = new Map([...weeks.flatMap((week) => week.goals.map((one): [string, string] => [one.id, week.monday])), ...later.map((one): [string, string] => [one.id, LATER])]);
  const move: Move = (goal, place) => {
    if (digest && !busy && goal && here.get(goal) !== place) void send("roadmap/goals", { goal, place }, { "If-Match": `"${digest}"` }, "PUT");
  };
  const places = digest ? [...mondays(), LATER] : [];
  const goals = (place: string, of: readonly RoadmapGoalAnswer[]): ReactNode => of.map((goal) => <GoalCard key={goal.id} goal={goal} places={goal.done ? [] : places.filter((one) => one !== place)} move={move} drag={() => (dragged.current = goal.id)} />);
  const drop = (place: string) => (): void => {
    if (places.includes(place)) move(dragged.current, place);
    dragged.current = "";
  };
  return (
    <>
      <h1>{t("page.roadmap")}</h1>
      {error && <Trouble problem={error} />}
      {problem && (
        <div className="notice bad">
          <Plain text={problem} />
        </div>
      )}
      {weeks.length + later.length ? (
        <p className="soft">
          {t("pace", { tasks: pace.tasks_per_day, cost: dollars(pace.cost_per_task), minutes: pace.minutes_per_task })} {ends && t("ends", { day: day(ends) })}
        </p>
      ) : (
        <p>{t("goals.none")}</p>
      )}
      {weeks.map((week) => (
        <Place key={week.monday} title={t("week.of", { day: day(week.monday) })} drop={drop(week.monday)}>
          {week.room > 0 && (
            <p className="soft">
              {t("room", { load: week.load, room: week.room })} {week.load > week.room && <Tag tone="wait">{t("room.over")}</Tag>}
            </p>
          )}
          {goals(week.monday, week.goals)}
        </Place>
      ))}
      {(later.length > 0 || (digest && weeks.length > 0)) && (
        <Place title={t("later")} drop={drop(LATER)}>
          {goals(LATER, later)}
        </Place>
      )}
      <LinesPart title="roadmap.own" of={own} />
      <p className="soft">{t(digest ? "roadmap.drag" : "roadmap.how")}</p>
    </>
  );
}

/** The Mondays from this week on, as YYYY-MM-DD. */
function mondays(): string[] {
  const now = new Date();
  const monday = now.getDate() - ((now.getDay() + 6) % 7);
  return Array.from({ length: AHEAD }, (_, at) => {
    const one = new Date(now.getFullYear(), now.getMonth(), monday + 7 * at);
    return [one.getFullYear(), one.getMonth() + 1, one.getDate()].map((part) => String(part).padStart(2, "0")).join("-");
  });
}

function Place({ title, drop, children }: { title: string; drop: () => void; children: ReactNode }): ReactNode {
  const [isOver, setOver] = useState(false);
  const over = (event: DragEvent): void => {
    event.preventDefault();
    setOver(true);
  };
  return (
    <section
      className={isOver ? "over" : undefined}
      aria-label={title}
      onDragOver={over}
      onDragLeave={() => setOver(false)}
      onDrop={() => {
        setOver(false);
        drop();
      }}
    >
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function GoalCard({ goal, places, move, drag }: { goal: RoadmapGoalAnswer; places: string[]; move: Move; drag: () => void }): ReactNode {
  const isWide = useIsWide(900);
  const all = goal.to_come === null ? null : goal.merged + goal.open + goal.to_come;
  const facts = [t(`priority.${goal.priority}`), t("tasks.of.goal", { merged: goal.merged, open: goal.open, come: goal.to_come ?? t("unknown") }), goal.yours ? t("moved.by.you") : ""];
  return (
    <article className="item" data-row tabIndex={-1} draggable={isWide && places.length > 0} onDragStart={drag}>
      <p className="title" dir="auto">
        <Plain text={goal.title} /> {goal.done && <Tag tone="good">{t("done.on", { day: day(goal.done) })}</Tag>}
      </p>
      {!goal.done && all ? <progress max={all} value={goal.merged} aria-label={goal.title} /> : null}
      <p className="soft">{facts.filter(Boolean).join(" · ")}</p>
      {goal.note && (
        <p className="soft" dir="auto">
          <Plain text={goal.note} />
        </p>
      )}
      {places.length > 0 && (
        <details className="menu">
          <summary>{t("move")}</summary>
          <div className="actions">
            {places.map((place) => (
              <button key={place} type="button" onClick={() => move(goal.id, place)}>
                {place === LATER ? t("later") : t("week.of", { day: day(place) })}
              </button>
            ))}
          </div>
        </details>
      )}
    </article>
  );
}
