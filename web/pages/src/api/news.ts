/* What changed, told by the board while it happens. One page of this browser listens for all of its tabs. */

import { ask, isSignedIn, onSignIn, Problem } from "./ask";

const DEAD = 25_000; // ms without a beat
const others = new BroadcastChannel("sisimpur.news");

export interface News {
  kind: "news" | "beat" | "resync" | "lost";
  topic?: string;
  ids?: string[];
}

let lastId = "";
let cut: AbortController | null = null;
let wake: () => void = () => undefined;
let listener: (news: News) => void = () => undefined;

// --- whether it is live ----------------------------------------------------------------------------------------

let heardAt = Date.now();
let live: boolean | null = null; // null: nobody has heard anything yet
const watchers = new Set<() => void>();

export const isLive = (): boolean | null => live;
export const lastHeard = (): number => heardAt;

export function onLive(told: () => void): () => void {
  watchers.add(told);
  return () => watchers.delete(told);
}

function line(now: boolean): void {
  if (now) heardAt = Date.now();
  document.body.dataset.live = now ? "live" : "stale";
  if (now === live) return;
  live = now;
  for (const told of watchers) told();
}

/** The board did not answer when it was asked. */
export function lineLost(): void {
  line(false);
}

// --- listening -------------------------------------------------------------------------------------------------

export function listenForNews(told: (news: News) => void): void {
  listener = told;
  others.addEventListener("message", (event: MessageEvent<News>) => heard(event.data));
  void navigator.locks.request("sisimpur.news", listen);
  setInterval(() => isSignedIn() && Date.now() - heardAt > DEAD && line(false), 5_000);
  for (const name of ["online", "pageshow"]) addEventListener(name, () => wake());
  onSignIn(() => (isSignedIn() ? wake() : cut?.abort()));
  document.addEventListener("visibilitychange", () => document.hidden || wake());
}

async function listen(): Promise<never> {
  for (let wait = 500; ; wait = Math.min(2 * wait, 30_000)) {
    if (isSignedIn()) {
      await hear(() => (wait = 500)).catch(() => null);
      if (isSignedIn()) tell({ kind: "lost" });
    }
    await new Promise<void>((done) => {
      wake = done;
      setTimeout(done, wait * (0.5 + Math.random()));
    });
  }
}

async function hear(alive: () => void): Promise<void> {
  const line = new AbortController();
  cut = line;
  let at = Date.now();
  let text = "";
  const watch = setInterval(() => Date.now() - at > DEAD && line.abort(), 5_000);
  try {
    const answer = await ask("news", { headers: lastId ? { "Last-Event-ID": lastId } : {}, signal: line.signal });
    if (!answer.ok || !answer.body) throw new Problem(answer.status, {});
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    alive();
    tell({ kind: "resync" }); // what moved while nobody listened has no number
    for (let one = await reader.read(); !one.done; one = await reader.read()) {
      at = Date.now();
      const parts = (text + one.value).split("\n\n");
      text = parts.pop() ?? "";
      for (const part of parts) {
        const news = parsed(part);
        if (news) tell(news);
      }
    }
  } finally {
    clearInterval(watch);
    line.abort();
  }
}

function parsed(part: string): News | null {
  const rows = part.split("\n").map((row): [string, string] => [row.slice(0, row.indexOf(":")), row.slice(row.indexOf(":") + 2)]);
  const fields = new Map(rows);
  lastId = fields.get("id") ?? lastId;
  const data = fields.get("data");
  if (data === undefined) return null;
  return { ...(JSON.parse(data) as object), kind: (fields.get("event") as News["kind"] | undefined) ?? "news" };
}

function tell(news: News): void {
  others.postMessage(news);
  heard(news);
}

function heard(news: News): void {
  line(news.kind !== "lost");
  listener(news);
}
