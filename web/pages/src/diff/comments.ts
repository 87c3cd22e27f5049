/* The owner's words on lines of a change: kept in this tab until they are sent with a ruling, or taken back. */

import { useSyncExternalStore } from "react";
import type { Row } from "./files";

export type Side = "old" | "new";

export interface Comment {
  path: string;
  side: Side;
  line: number;
  text: string;
  quoted: string; // the line as it was shown
  commit: string; // of the change that was looked at
}

export const MOST = 50; // what the board takes with one order
const LONGEST = 8_000; // characters of all, as the coder reads them
const QUOTED = 120;
const NONE: Comment[] = [];
const PLACE = "sisimpur.comments.";

const known = new Map<string, Comment[]>();
const watchers = new Set<() => void>();

function kept(task: string): Comment[] {
  const found = known.get(task) ?? (JSON.parse(sessionStorage.getItem(PLACE + task) ?? "[]") as Comment[]);
  known.set(task, found.length ? found : NONE);
  return known.get(task) ?? NONE;
}

function keep(task: string, all: Comment[]): void {
  known.set(task, all.length ? all : NONE);
  if (all.length) sessionStorage.setItem(PLACE + task, JSON.stringify(all));
  else sessionStorage.removeItem(PLACE + task);
  for (const told of watchers) told();
}

export function useComments(task: string): Comment[] {
  return useSyncExternalStore(
    (told) => {
      watchers.add(told);
      return () => watchers.delete(told);
    },
    () => kept(task),
  );
}

const at = (one: Comment): string => `${one.side} ${one.line} ${one.path}`;

/** One word for each line: a later one takes the place of the one before; an empty one takes it back. */
export function comment(task: string, said: Comment): void {
  const others = kept(task).filter((one) => at(one) !== at(said));
  keep(task, said.text.trim() ? [...others, said] : others);
}

export const forget = (task: string): void => keep(task, NONE);

export const quote = (text: string): string => Array.from(text).slice(0, QUOTED).join("");

/** Whether the board takes one more of this length. */
export const hasRoom = (all: readonly Comment[], said: Comment): boolean => {
  const others = all.filter((one) => at(one) !== at(said));
  const length = [...others, said].reduce((sum, one) => sum + one.path.length + one.quoted.length + one.text.length + 30, 0);
  return others.length < MOST && length <= LONGEST;
};

/** Whether it is about this row, shown as the file was, as it is, or as both. */
export const isOf = (one: Comment, row: Row | null, side: Side | "both"): boolean =>
  row !== null && ((one.side === "old" && side !== "new" && row.old === one.line) || (one.side === "new" && side !== "old" && row.new === one.line));
