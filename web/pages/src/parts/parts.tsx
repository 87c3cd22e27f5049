/* What pages are made of: sections, lists, tags, notices. */

import { type ReactNode, useSyncExternalStore } from "react";
import type { Problem } from "../api/ask";
import type { ReviewAnswer } from "../api/types";
import { t, type Word } from "../words/words";
import { Plain } from "./Plain";

type Tone = "good" | "bad" | "wait" | "";

export function Part({ title, children }: { title: string; children: ReactNode }): ReactNode {
  return (
    <section>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

/** What the owner wanted, in their own words, and what the planner saw beside the task. */
export function Asked({ words, said }: { words: string; said: readonly string[] }): ReactNode {
  return (
    <>
      {words && (
        <p className="whole" dir="auto">
          {t("you.wrote")} <Plain text={words} />
        </p>
      )}
      <Lines of={said} />
    </>
  );
}

/** Lines, each as text; nothing at all without one. */
export function Lines({ of, soft = false }: { of: readonly string[] | undefined; soft?: boolean }): ReactNode {
  if (!of?.length) return null;
  return (
    <ul className={soft ? "soft" : undefined}>
      {of.map((one, at) => (
        <li key={at} dir="auto">
          <Plain text={one} />
        </li>
      ))}
    </ul>
  );
}

/** A section of lines, and how many more there are; nothing at all without one. */
export function LinesPart({ title, of, more }: { title: Word; of: readonly string[] | undefined; more?: number }): ReactNode {
  return of?.length ? (
    <Part title={t(title)}>
      <Lines of={of} />
      {more ? <p className="soft">{t("and.more", { count: more })}</p> : null}
    </Part>
  ) : null;
}

export function Tag({ tone, children }: { tone: Tone; children: ReactNode }): ReactNode {
  return <span className={`tag ${tone}`}>{children}</span>;
}

type Stands = ReviewAnswer["evidence" | "verdict"]["standing"];
const TONES: Partial<Record<Stands, Tone>> = { passed: "good", approved: "good", failed: "bad", "changes requested": "bad" };

export function Standing({ word }: { word: Stands }): ReactNode {
  return <Tag tone={TONES[word] ?? "wait"}>{t(`standing.${word}`)}</Tag>;
}

// --- while it is read, and when it cannot be -------------------------------------------------------------------

export function Waiting(): ReactNode {
  return (
    <p className="soft" role="status">
      {t("reading")}
    </p>
  );
}

export function Trouble({ problem }: { problem: Problem }): ReactNode {
  const text = problem.status === 404 ? t("not.offered") : problem.status ? problem.message : t("no.answer");
  return (
    <div className="notice bad" role="alert">
      <Plain text={text} />
    </div>
  );
}

// --- what the board said to an order ---------------------------------------------------------------------------

let said: { text: string; isBad: boolean } | null = null;
const watchers = new Set<() => void>();

export function say(text: string, isBad = false): void {
  said = text ? { text, isBad } : null;
  for (const told of watchers) told();
}

export function Said(): ReactNode {
  const now = useSyncExternalStore(
    (told) => {
      watchers.add(told);
      return () => watchers.delete(told);
    },
    () => said,
  );
  if (!now) return null;
  return (
    <div className={`notice said ${now.isBad ? "bad" : "good"}`} role={now.isBad ? "alert" : "status"}>
      <Plain text={now.text} />
      <button type="button" className="plain" onClick={() => say("")}>
        {t("close")}
      </button>
    </div>
  );
}
