/* Who works, on what machine; what is live; what was learned and looked up; who ordered what. */

import { type ReactNode, useState } from "react";
import { Link } from "wouter";
import { useRead } from "../api/reading";
import type { Machine, Run, Status } from "../api/types";
import { useOrder } from "../parts/ordering";
import { Lines, LinesPart, Part, Tag, Trouble, Waiting } from "../parts/parts";
import { Plain } from "../parts/Plain";
import { useWho } from "../parts/who";
import { day, dollars, lasting, moment, share } from "../words/figures";
import { t, tOr } from "../words/words";
import { Opened } from "./Talk";

export default function Team(): ReactNode {
  const { data, error } = useRead<Status>("status");
  if (!data) return error ? <Trouble problem={error} /> : <Waiting />;
  const facts = data.value;
  return (
    <>
      <h1>{t("page.team")}</h1>
      {error && <Trouble problem={error} />}
      <Daemon of={facts} />
      <Agents />
      <Places />
      <MachinePart of={facts.machine} />
      <LinesPart title="today.problems" of={facts.problems} />
      <Opened title={t("memory")}>{() => <Memory />}</Opened>
      <Opened title={t("research")}>{() => <Research />}</Opened>
      <Opened title={t("audit")}>{() => <Audit />}</Opened>
    </>
  );
}

function Daemon({ of: { daemon, pid } }: { of: Status }): ReactNode {
  return (
    <Part title={t("daemon")}>
      <p>
        <Tag tone={daemon.state === "running" ? "good" : "wait"}>{tOr("daemon", pid && daemon.state !== "running" ? "other" : daemon.state)}</Tag>{" "}
        {daemon.state === "running" ? `${t("since.short", { time: moment(daemon.since) })}; ${daemon.next}` : daemon.ended ? t("ended", { time: moment(daemon.ended) }) : ""} {daemon.state !== "running" && daemon.how && <Plain text={daemon.how} />}
      </p>
      <Lines of={daemon.waits_for.map((one) => t("runs.waits", { why: one.why || one.what }))} />
    </Part>
  );
}

interface Agent {
  role: string;
  model: string;
  runs: Run[];
  last: { task: string; ended: string; result: string };
}

function Agents(): ReactNode {
  const { data, error } = useRead<Agent[]>("agents");
  return (
    <Part title={t("agents")}>
      {error && <Trouble problem={error} />}
      {data?.value.map((one) => (
        <article key={one.role} className="item" data-row tabIndex={-1}>
          <p>
            <b>{tOr("agent", one.role)}</b> <span className="soft">{one.model}</span>
          </p>
          {one.runs.map((run) => (
            <p key={run.task + run.since} dir="auto">
              <Tag tone="good">{t("works")}</Tag> {run.task ? <Link href={`/task/${encodeURIComponent(run.task)}`}>{<Plain text={run.title || run.task} />}</Link> : null} <span className="soft">{lasting(run.seconds)}</span>
            </p>
          ))}
          {!one.runs.length && (
            <p className="soft" dir="auto">
              {one.last.ended ? (
                <>
                  {t("last.run", { time: moment(one.last.ended) })} <Plain text={one.last.result} />
                </>
              ) : (
                t("never.ran")
              )}
            </p>
          )}
        </article>
      ))}
    </Part>
  );
}

// --- what is live ----------------------------------------------------------------------------------------------

interface Deploys {
  places: { place: "staging" | "production"; commit: string; subject: string; task: string; since: string; stuck: string }[];
  paused: { since: string; why: string } | null;
  held: { text: string; command: string }[];
  deploys: { number: number; place: string; subject: string; commit: string; stage: string; why: string; begun: string; ended: string }[];
}

const DEPLOYS = 10;

function Places(): ReactNode {
  const { data, error } = useRead<Deploys>("deploys");
  const facts = data?.value;
  const pausing = useOrder(`pause ${facts?.paused?.since ?? ""}`);
  const [asked, setAsked] = useState("");
  const rolling = useOrder(`rollback ${asked}`);
  const { owns } = useWho();
  return (
    <Part title={t("today.live")}>
      {error && (
        <p className="soft">
          <Plain text={error.message || t("no.answer")} />
        </p>
      )}
      {facts?.paused && (
        <div className="notice">
          {t("deploys.paused", { time: moment(facts.paused.since) })} <Plain text={facts.paused.why} />
        </div>
      )}
      <Lines of={facts?.held.filter(() => !facts.paused).map((one) => one.text)} />
      {facts?.places.map((one) => (
        <article key={one.place} className={`item ${one.stuck ? "failed" : ""}`} data-row tabIndex={-1}>
          <p dir="auto">
            <b>{tOr("place", one.place)}</b> {one.commit ? <Plain text={one.subject || one.commit.slice(0, 8)} /> : t("place.nothing")} {one.since && <span className="soft">{t("since.short", { time: moment(one.since) })}</span>}
          </p>
          {one.stuck && (
            <p className="tag bad">
              <Plain text={one.stuck} />
            </p>
          )}
          {asked === one.place ? (
            <>
              <p>{t("rollback.means")}</p>
              <div className="actions">
                <button type="button" className="main grave" disabled={rolling.busy} onClick={() => void rolling.send("deploys/rollback", { place: one.place }).then(() => setAsked(""))}>
                  {t("rollback.yes")}
                </button>
                <button type="button" onClick={() => setAsked("")}>
                  {t("not.yet")}
                </button>
              </div>
            </>
          ) : (
            <div className="actions">
              {one.commit && owns && (
                <button type="button" onClick={() => setAsked(one.place)}>
                  {t("rollback")}
                </button>
              )}
            </div>
          )}
        </article>
      ))}
      {facts && owns && (
        <div className="actions">
          <button type="button" disabled={pausing.busy} onClick={() => void pausing.send("deploys/pause", { paused: !facts.paused })}>
            {t(facts.paused ? "deploys.resume" : "deploys.pause")}
          </button>
        </div>
      )}
      {facts?.deploys.length ? (
        <ol className="timeline">
          {facts.deploys.slice(0, DEPLOYS).map((one) => (
            <li key={one.number} dir="auto">
              <time>{moment(one.ended || one.begun)}</time> {tOr("place", one.place)}: {one.stage} <Plain text={one.subject || one.commit.slice(0, 8)} />
              {one.why && (
                <p className="soft note">
                  <Plain text={one.why} />
                </p>
              )}
            </li>
          ))}
        </ol>
      ) : null}
    </Part>
  );
}

// --- the machine -----------------------------------------------------------------------------------------------

function MachinePart({ of }: { of: Machine }): ReactNode {
  const shares = (["memory", "disk", "inodes"] as const).filter((one) => of[one] != null);
  return (
    <Part title={t("machine")}>
      {shares.map((one) => (
        <p key={one}>
          {t(`machine.${one}`, { share: share(of[one] ?? 0) })}
          <svg className="share" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
            <rect width={100 * (of[one] ?? 0)} height="4" />
          </svg>
        </p>
      ))}
      <p className="soft">{of.load != null && t("machine.load", { load: of.load.toFixed(1), processors: of.processors ?? "?", boxes: of.boxes ?? 0 })}</p>
    </Part>
  );
}

// --- what it knows, and who ordered what -----------------------------------------------------------------------

interface Lesson {
  number: number;
  agent: string;
  text: string;
  used: number;
  passed: number;
}

function Memory(): ReactNode {
  const { data, error } = useRead<Lesson[]>("memory");
  if (!data) return error ? <Trouble problem={error} /> : <Waiting />;
  if (!data.value.length) return <p className="soft">{t("none")}</p>;
  return (
    <ul>
      {data.value.map((one) => (
        <li key={one.number} dir="auto">
          <b>{tOr("agent", one.agent)}:</b> <Plain text={one.text} /> <span className="soft">{t("lesson.helped", { used: one.used, passed: one.passed })}</span>
        </li>
      ))}
    </ul>
  );
}

interface Looked {
  id: string;
  question: string;
  asked: string;
  answered: string;
  recommendation: string;
  claims: number;
  cost: string;
  problem: string;
}

function Research(): ReactNode {
  const { data, error } = useRead<Looked[]>("research");
  if (!data) return error ? <Trouble problem={error} /> : <Waiting />;
  if (!data.value.length) return <p className="soft">{t("none")}</p>;
  return data.value.map((one) => (
    <article key={one.id} className="item" data-row tabIndex={-1}>
      <p className="title" dir="auto">
        <Plain text={one.question} />
      </p>
      <p dir="auto">
        <Plain text={one.recommendation || one.problem} />
      </p>
      <p className="soft">{t("research.told", { day: day(one.answered || one.asked), claims: one.claims, cost: dollars(one.cost) })}</p>
    </article>
  ));
}

interface Row {
  seq: number;
  at: string;
  actor: string;
  via: string;
  kind: string;
  subject: string;
  detail: Record<string, unknown>;
}

function Audit(): ReactNode {
  const [cursor, setCursor] = useState("");
  const { data, error } = useRead<{ rows: Row[]; next: string | null }>(`audit?limit=100&cursor=${encodeURIComponent(cursor)}`);
  if (!data) return error ? <Trouble problem={error} /> : <Waiting />;
  return (
    <>
      <ol className="plain-list">
        {data.value.rows.map((one) => (
          <li key={one.seq} dir="auto">
            <time dateTime={one.at}>{moment(one.at)}</time> <b>{one.actor}</b> {one.via && <span className="soft">({one.via})</span>} {one.kind} <Plain text={one.subject} />{" "}
            <span className="soft">
              <Plain text={Object.entries(one.detail).filter(([, value]) => value !== "" && value !== null).map(([name, value]) => `${name} ${typeof value === "object" ? ((value as { passkey?: string }).passkey ?? JSON.stringify(value)) : String(value)}`).join(", ")} />
            </span>
          </li>
        ))}
      </ol>
      {data.value.next && (
        <button type="button" onClick={() => setCursor(data.value.next ?? "")}>
          {t("later.ones")}
        </button>
      )}
    </>
  );
}
