/* The keyboard: j/k go on and back, o opens, a, r and c press what says so, ? tells. Whoever writes is left alone. */

import { pressLine } from "./diff/lines";
import { chosen } from "./look";

export const KEYS = ["j", "k", "o", "a", "r", "c", "?"] as const;

export function listenForKeys(help: () => void): () => void {
  const pressed = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || chosen("keys") === "off") return;
    const at = event.target as HTMLElement;
    if (at.matches("input, textarea, select") || document.querySelector("dialog[open]")) return;
    const done = act(event.key, help);
    if (done) event.preventDefault();
  };
  addEventListener("keydown", pressed);
  return () => removeEventListener("keydown", pressed);
}

function act(key: string, help: () => void): boolean {
  if (key === "?") {
    help();
    return true;
  }
  if (key === "j" || key === "k") return step(key === "j" ? 1 : -1);
  const row = current();
  if (key === "o") return press(row?.querySelector<HTMLElement>("a, summary"));
  if (key === "c") return pressLine();
  if (key !== "a" && key !== "r") return false;
  return press(row?.querySelector<HTMLElement>(`[data-key=${key}]`) ?? document.querySelector<HTMLElement>(`.bar [data-key=${key}]`));
}

const rows = (): HTMLElement[] => Array.from(document.querySelectorAll<HTMLElement>("main [data-row]")).filter((one) => one.checkVisibility());
const current = (): HTMLElement | null => document.activeElement?.closest<HTMLElement>("[data-row]") ?? null;

function step(by: number): boolean {
  const all = rows();
  const now = current() ?? document.activeElement?.closest(".line");
  const isNext = (one: HTMLElement): boolean => !now || Boolean(now.compareDocumentPosition(one) & (by > 0 ? Node.DOCUMENT_POSITION_FOLLOWING : Node.DOCUMENT_POSITION_PRECEDING));
  const next = by > 0 ? all.find(isNext) : all.findLast(isNext);
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
  return next !== undefined;
}

function press(one: HTMLElement | null | undefined): boolean {
  one?.click();
  return one != null;
}
