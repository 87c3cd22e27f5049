/* What a page has read, and when it reads again: because of news, never while somebody writes. */

import { QueryClient, useQuery, type UseQueryResult } from "@tanstack/react-query";
import { type Answer, Problem, read } from "./ask";
import { lineLost, listenForNews, type News } from "./news";

const SOONEST = 1_000; // ms between two readings because of news
const MOST_WAITING = 200; // news; then all is read again

export const client = new QueryClient({
  defaultOptions: {
    queries: { retry: false, staleTime: Infinity, networkMode: "always", refetchOnWindowFocus: false, refetchOnReconnect: false },
  },
});

/** Read it by its name below /api/v1. What was shown stays when the board does not answer. */
export function useRead<T>(name: string, wanted = true): UseQueryResult<Answer<T>, Problem> {
  return useQuery<Answer<T>, Problem>({ queryKey: [name], queryFn: () => read<T>(name), enabled: wanted });
}

/** Read all that is shown again. */
export async function readAgain(): Promise<void> {
  await client.invalidateQueries();
}

// --- because of news -------------------------------------------------------------------------------------------

let wanted: News[] = [];
let planned = 0;
let shownAt = 0;
let asOf = Date.now();
const watchers = new Set<() => void>();

export const readAt = (): number => asOf;

export function onRead(told: () => void): () => void {
  watchers.add(told);
  return () => watchers.delete(told);
}

export function begin(): void {
  listenForNews((news) => {
    if (news.kind === "resync" || (news.kind === "news" && !["sign-in", "notice"].includes(news.topic ?? ""))) {
      wanted = wanted.length < MOST_WAITING ? [...wanted, news] : [{ kind: "resync" }];
      soon();
    }
  });
  document.addEventListener("visibilitychange", () => document.hidden || soon());
  document.addEventListener("focusout", () => wanted.length && setTimeout(soon, SOONEST)); // a press on a button comes first
  client.getQueryCache().subscribe((event) => {
    if (event.type !== "updated") return;
    if (event.action.type === "error" && (event.action.error as Problem).status === 0) lineLost();
    if (event.action.type !== "success") return;
    asOf = Date.now();
    for (const told of watchers) told();
  });
}

function soon(): void {
  planned ||= window.setTimeout(again, Math.max(100, shownAt + SOONEST - Date.now()));
}

function again(): void {
  planned = 0;
  if (document.hidden || isWriting() || !wanted.length) return;
  const news = wanted;
  wanted = [];
  shownAt = Date.now();
  void client.invalidateQueries({ predicate: (query) => news.some((one) => concerns(one, String(query.queryKey[0]))) });
}

const isWriting = (): boolean => document.activeElement?.matches("textarea, input[type=text]") ?? false;

function concerns(news: News, name: string): boolean {
  const folder = /^tasks\?.*\bstate=(\w+)/.exec(name)?.[1];
  if (folder && news.topic === "files") return news.ids?.includes(folder) ?? true;
  const task = /^tasks\/([^/?]+)/.exec(name)?.[1];
  if (!task || news.kind === "resync" || news.topic === "files") return true;
  return news.ids?.includes(decodeURIComponent(task)) ?? false;
}
