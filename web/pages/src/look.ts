/* How the page looks here: language, colours, keys, the difference. Each is kept in this page's own storage. */

import { useSyncExternalStore } from "react";
import { type Language, speak } from "./words/words";

const DEFAULTS = { language: "en", theme: "", keys: "on", diff: "", wrap: "on" };
type Choice = keyof typeof DEFAULTS;

const FONT_WAITS = 2_000; // ms
const watchers = new Set<() => void>();

export const chosen = (choice: Choice): string => localStorage.getItem(`sisimpur.${choice}`) ?? DEFAULTS[choice];

export async function choose(choice: Choice, value: string): Promise<void> {
  localStorage.setItem(`sisimpur.${choice}`, value);
  await apply();
  for (const told of watchers) told();
}

export async function apply(): Promise<void> {
  if (chosen("theme")) document.documentElement.dataset.theme = chosen("theme");
  else delete document.documentElement.dataset.theme;
  const spoken = language();
  const letters = spoken === "bn" ? document.fonts.load("1rem Bengali", "অ") : null; // before the first word is shown
  await Promise.all([speak(spoken), Promise.race([letters, new Promise((done) => setTimeout(done, FONT_WAITS))])]);
}

export function useChoice(choice: Choice): string {
  return useSyncExternalStore(
    (told) => {
      watchers.add(told);
      return () => watchers.delete(told);
    },
    () => chosen(choice),
  );
}

export const language = (): Language => (chosen("language") === "bn" ? "bn" : "en");

/** Whether the window is at least so wide. */
export function useIsWide(pixels: number): boolean {
  const query = matchMedia(`(min-width: ${pixels}px)`);
  return useSyncExternalStore(
    (told) => {
      query.addEventListener("change", told);
      return () => query.removeEventListener("change", told);
    },
    () => query.matches,
  );
}
