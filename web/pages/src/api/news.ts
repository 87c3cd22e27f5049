/* What changed, told by the board while it happens: by a socket, of which a browser has many; where a proxy lets none through,
   as server-sent events. Each page listens for itself, while somebody looks at it. */

import { API, ask, isSignedIn, onSignIn, ownKey, Problem } from "./ask";

const DEAD = 20_000; // ms without a beat; one comes each nine seconds
const LOOKS = 2_000; // ms between two looks at that

export interface News {
  kind: "news" | "beat" | "resync";
  topic?: string;
  ids?: string[];
}

interface Said extends Omit<News, "kind"> {
  event?: News["kind"];
  seq: number;
}

let last: number | null = null; // what was heard up to there is not told again
let cut: () => void = () => undefined;
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
  void listen();
  setInterval(() => isWanted() && Date.now() - heardAt > DEAD && line(false), LOOKS);
  for (const name of ["online", "pageshow"]) addEventListener(name, () => wake());
  onSignIn(() => (isSignedIn() ? wake() : cut()));
  document.addEventListener("visibilitychange", () => (document.hidden ? cut() : wake()));
}

/** A page that nobody sees takes no line from one that somebody does. */
const isWanted = (): boolean => isSignedIn() && !document.hidden;

async function listen(): Promise<never> {
  for (let wait = 500; ; wait = Math.min(2 * wait, 30_000)) {
    if (isWanted()) {
      await hear(() => (wait = 500)).catch(() => null);
      if (isWanted()) line(false);
    }
    await new Promise<void>((done) => {
      wake = done;
      setTimeout(done, wait * (0.5 + Math.random()));
    });
  }
}

async function hear(alive: () => void): Promise<void> {
  const end = new AbortController();
  cut = () => end.abort();
  let at = Date.now();
  let begun = false;
  const watch = setInterval(() => Date.now() - at > DEAD && end.abort(), LOOKS);
  const told = ({ event, seq, ...more }: Said): void => {
    at = Date.now();
    last = seq;
    line(true);
    if (!begun) listener({ kind: "resync" }); // what moved while nobody listened has no number
    begun = true;
    alive();
    listener({ ...more, kind: event ?? "news" });
  };
  try {
    if (await bySocket(told, end.signal)) return;
    await ask("status", { signal: end.signal }); // a board that answers this, and no socket, is behind a proxy
    if (!(await bySocket(told, end.signal))) await byEvents(told, end.signal);
  } finally {
    clearInterval(watch);
    end.abort();
  }
}

/** False: none can be had. On this machine the first message says who asks; over TLS the cookie does. */
async function bySocket(told: (said: Said) => void, end: AbortSignal): Promise<boolean> {
  const socket = new WebSocket(`${location.origin.replace("http", "ws")}${API}news`);
  const key = ownKey();
  return new Promise((done) => {
    let opened = false;
    end.addEventListener("abort", () => {
      done(true); // one that is half dead is closed by nobody
      socket.close();
    });
    socket.onopen = () => {
      opened = true;
      socket.send(JSON.stringify({ ...(key && { key }), last }));
    };
    socket.onmessage = (event: MessageEvent<string>) => end.aborted || told(JSON.parse(event.data) as Said);
    socket.onclose = ({ code }) => {
      if (code === 4401) void ask("status").catch(() => null); // it says so again, and then it is over
      done(opened);
    };
  });
}

async function byEvents(told: (said: Said) => void, end: AbortSignal): Promise<void> {
  const answer = await ask("news", { headers: last === null ? {} : { "Last-Event-ID": String(last) }, signal: end });
  if (!answer.ok || !answer.body) throw new Problem(answer.status, {});
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (let one = await reader.read(); !one.done; one = await reader.read()) {
    const parts = (text + one.value).split("\n\n");
    text = parts.pop() ?? "";
    for (const part of parts) {
      const rows = part.split("\n").map((row): [string, string] => [row.slice(0, row.indexOf(":")), row.slice(row.indexOf(":") + 2)]);
      const { event, data } = Object.fromEntries(rows);
      if (data) told({ ...(JSON.parse(data) as Said), ...(event && { event: event as News["kind"] }) });
    }
  }
}
