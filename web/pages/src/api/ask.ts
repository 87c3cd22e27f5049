/* Asking the board. On its own machine the key lies in this page's storage, which no other port can read: there is no cookie.
   Over TLS it is a cookie that no page can read, and here stands only that there is one. */

import type { ChallengeAnswer, TokenAnswer } from "./types";

const KEPT = "cookie";
const KEY = "sisimpur.key";
export const API = "/api/v1/";
const known = new Map<string, Answer<unknown>>(); // address -> what was answered, and its ETag
const watchers = new Set<() => void>();
let ended = false;
declare global {
  interface Window {
    asked?: Map<string, Promise<Response>>; // by src/first.js, before this was there
  }
}

export interface Answer<T> {
  tag: string;
  value: T;
}

/** What the board refuses (RFC 9457). `status` 0: it does not answer. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly value: { title?: string; errors?: { at: string; says: string }[]; asked?: ChallengeAnswer },
  ) {
    super(value.title ?? "");
  }
}

// --- who is signed in ------------------------------------------------------------------------------------------

export const isSignedIn = (): boolean => localStorage.getItem(KEY) !== null;
/** The key that this page holds, if it holds one: over TLS none. */
export function ownKey(): string {
  const key = localStorage.getItem(KEY) ?? "";
  return key === KEPT ? "" : key;
}
/** Whether a session was there and is over: the page says so. */
export const hasEnded = (): boolean => ended;

export function onSignIn(told: () => void): () => void {
  watchers.add(told);
  return () => watchers.delete(told);
}

function tellAll(): void {
  for (const told of watchers) told();
}

export const signIn = (code: string): Promise<void> => begin("session", { code });

/** Begin a session by what signs in at `path`. Its token is empty over TLS, where it is a cookie. */
export async function begin(path: string, body: unknown): Promise<void> {
  const looks = Object.entries(localStorage).filter(([name]) => name.startsWith("sisimpur."));
  const { token } = await order<TokenAnswer>(path, body);
  for (const [name, value] of looks) localStorage.setItem(name, value); // on this machine the answer has emptied it
  begun(token || KEPT);
}

/** A cookie came on the way back from Google or GitHub. Any page can send a browser here: a key that is there stays. */
export const signedInThere = (): void => {
  if (!ownKey()) begun(KEPT);
};

function begun(key: string): void {
  localStorage.setItem(KEY, key);
  ended = false;
  tellAll();
}

/** End the session, and leave nothing of it in this tab. Problem: over TLS only the board takes its cookie back. */
export async function signOut(): Promise<void> {
  const answer = await ask("session", { method: "DELETE" }).catch(() => null);
  if (!ownKey() && answer?.status !== 204 && answer?.status !== 401) throw new Problem(answer?.status ?? 0, {});
  localStorage.removeItem(KEY);
  sessionStorage.clear();
  location.reload(); // what it has read and what was typed are in its memory
}

function forget(): void {
  delete window.asked;
  localStorage.removeItem(KEY);
  known.clear();
  tellAll();
}

addEventListener("storage", tellAll);

// --- reading and ordering --------------------------------------------------------------------------------------

export async function ask(name: string, options: RequestInit = {}): Promise<Response> {
  const headers = new Headers(options.headers);
  const key = ownKey();
  const had = isSignedIn();
  if (key) headers.set("Authorization", `Bearer ${key}`);
  if (options.body) headers.set("Content-Type", "application/json");
  let answer: Response;
  try {
    answer = await (early(name, options) ?? fetch(API + name, { ...options, headers, cache: "no-store", redirect: "error" }));
  } catch (error) {
    if (error instanceof TypeError) throw new Problem(0, {});
    throw error;
  }
  if (answer.status === 401 && had && name !== "session") {
    ended = true;
    forget();
  }
  return answer;
}

/** What was asked for already: once, and for who is still signed in. */
function early(name: string, options: RequestInit): Promise<Response> | undefined {
  const found = options.method ? undefined : window.asked?.get(name);
  window.asked?.delete(name);
  return found;
}

export async function read<T>(name: string): Promise<Answer<T>> {
  const before = known.get(name);
  const answer = await ask(name, before ? { headers: { "If-None-Match": before.tag } } : {});
  if (answer.status === 304 && before) return before as Answer<T>;
  const value = (await answer.json()) as T;
  if (!answer.ok) throw new Problem(answer.status, value as { title?: string });
  const found = { tag: answer.headers.get("ETag") ?? "", value };
  known.set(name, found);
  return found;
}

/** A key of one order: said twice it is done once. */
export function newKey(): string {
  const numbers = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(numbers, (one) => one.toString(16).padStart(2, "0")).join("");
}

export async function order<T>(
  name: string,
  body: unknown,
  headers: Record<string, string> = {},
  method: "POST" | "PUT" = "POST",
): Promise<T> {
  const answer = await ask(name, { method, body: JSON.stringify(body), headers });
  const value = (await answer.json()) as T;
  if (!answer.ok) throw new Problem(answer.status, value as { title?: string });
  return value;
}
