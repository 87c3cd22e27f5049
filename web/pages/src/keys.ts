/* The keyboard: j/k go on and back, o opens, a and r press what says so, ? tells. Whoever writes is left alone. */

import { chosen } from "./look";

export const KEYS = ["j", "k", "o", "a", "r", "?"] as const;

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
  if (key !== "a" && key !== "r") return false;
  return press(row?.querySelector<HTMLElement>(`[data-key=${key}]`) ?? document.querySelector<HTMLElement>(`.bar [data-key=${key}]`));
}

const rows = (): HTMLElement[] => Array.from(document.querySelectorAll<HTMLElement>("main [data-row]")).filter((one) => one.checkVisibility());
const current = (): HTMLElement | null => document.activeElement?.closest<HTMLElement>("[data-row]") ?? null;

function step(by: number): boolean {
  const all = rows();
  const now = current();
  const next = all[now ? all.indexOf(now) + by : by > 0 ? 0 : all.length - 1];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
  return next !== undefined;
}

function press(one: HTMLElement | null | undefined): boolean {
  one?.click();
  return one != null;
}
