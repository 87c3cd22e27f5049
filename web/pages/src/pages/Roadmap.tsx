/* Which goal is probably done in which week, at which pace. */

import type { ReactNode } from "react";
import { useRead } from "../api/reading";
import type { Goal, Roadmap as Facts } from "../api/types";
import { LinesPart, Part, Tag, Trouble, Waiting } from "../parts/parts";
import { Plain } from "../parts/Plain";
import { day, dollars } from "../words/figures";
import { t, tOr } from "../words/words";

export default function Roadmap(): ReactNode {
  const { data, error } = useRead<Facts>("roadmap");
  if (!data) return error ? <Trouble problem={error} /> : <Waiting />;
  const { weeks, later, pace, ends, own, problem } = data.value;
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
        <Part key={week.monday} title={t("week.of", { day: day(week.monday) })}>
          {week.room > 0 && (
            <p className="soft">
              {t("room", { load: week.load, room: week.room })} {week.load > week.room && <Tag tone="wait">{t("room.over")}</Tag>}
            </p>
          )}
          {week.goals.map((goal) => (
            <GoalCard key={goal.id} goal={goal} />
          ))}
        </Part>
      ))}
      {later.length > 0 && (
        <Part title={t("later")}>
          {later.map((goal) => (
            <GoalCard key={goal.id} goal={goal} />
          ))}
        </Part>
      )}
      <LinesPart title="roadmap.own" of={own} />
      <p className="soft">{t("roadmap.how")}</p>
    </>
  );
}

function GoalCard({ goal }: { goal: Goal }): ReactNode {
  const all = goal.to_come === null ? null : goal.merged + goal.open + goal.to_come;
  const facts = [tOr("priority", goal.priority), t("tasks.of.goal", { merged: goal.merged, open: goal.open, come: goal.to_come ?? t("unknown") }), goal.yours ? t("moved.by.you") : ""];
  return (
    <article className="item" data-row tabIndex={-1}>
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
    </article>
  );
}
