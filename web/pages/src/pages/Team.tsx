/* Who works, on what machine; what is live; what was learned and looked up; who ordered what. */

import { type ReactNode, useState } from "react";
import { Link } from "wouter";
import { useRead } from "../api/reading";
import type { AgentAnswer, AuditAnswer, DeploysAnswer, Lesson, ResearchAnswer, StatusAnswer } from "../api/types";
import { useOrder } from "../parts/ordering";
import { Lines, LinesPart, Part, Tag, Trouble, Waiting } from "../parts/parts";
import { Plain } from "../parts/Plain";
import { useWho } from "../parts/who";
import { day, dollars, lasting, moment, share } from "../words/figures";
import { t, tOr } from "../words/words";
import { Opened } from "./Talk";

export default function Team(): ReactNode {
  const { data, error } = useRead<StatusAnswer>("status");
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

function Daemon({ of: { daemon, pid } }: { of: StatusAnswer }): ReactNode {
  return (
    <Part title={t("daemon")}>
      <p>
        <Tag tone={daemon.state === "running" ? "good" : "wait"}>{t(`daemon.${pid && daemon.state !== "running" ? "other" : daemon.state}`)}</Tag>{" "}
        {daemon.state === "running" ? `${t("since.short", { time: moment(daemon.since) })}; ${daemon.next}` : daemon.ended ? t("ended", { time: moment(daemon.ended) }) : ""} {daemon.state !== "running" && daemon.how && <Plain text={daemon.how} />}
      </p>
      <Lines of={daemon.waits_for.map((one) => t("runs.waits", { why: one.why || one.what }))} />
    </Part>
  );
}

function Agents(): ReactNode {
  const { data, error } = useRead<AgentAnswer[]>("agents");
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

const DEPLOYS = 10;

function Places(): ReactNode {
  const { data, error } = useRead<DeploysAnswer>("deploys");
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
            <b>{t(`place.${one.place}`)}</b> {one.commit ? <Plain text={one.subject || one.commit.slice(0, 8)} /> : t("place.nothing")} {one.since && <span className="soft">{t("since.short", { time: moment(one.since) })}</span>}
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
              <time>{moment(one.ended || one.begun)}</time> {t(`place.${one.place}`)}: {one.stage} <Plain text={one.subject || one.commit.slice(0, 8)} />
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

function MachinePart({ of }: { of: StatusAnswer["machine"] }): ReactNode {
  if (!("load" in of)) return null;
  return (
    <Part title={t("machine")}>
      {(["memory", "disk", "inodes"] as const).map((one) => (
        <p key={one}>
          {t(`machine.${one}`, { share: share(of[one]) })}
          <svg className="share" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
            <rect width={100 * of[one]} height="4" />
          </svg>
        </p>
      ))}
      <p className="soft">{t("machine.load", { load: of.load.toFixed(1), processors: of.processors, boxes: of.boxes })}</p>
    </Part>
  );
}

// --- what it knows, and who ordered what -----------------------------------------------------------------------

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

function Research(): ReactNode {
  const { data, error } = useRead<ResearchAnswer[]>("research");
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

function Audit(): ReactNode {
  const [cursor, setCursor] = useState("");
  const { data, error } = useRead<AuditAnswer>(`audit?limit=100&cursor=${encodeURIComponent(cursor)}`);
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
