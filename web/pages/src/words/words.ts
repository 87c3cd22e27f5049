/* The page's own words, in two languages. What the board answers comes in its own words. */

import en from "./en.json";

export type Words = Record<keyof typeof en, string>;
export type Word = keyof Words;
export type Language = "en" | "bn";

let words: Words = en;

/** The words for it, with {values} put in. */
export function t(word: Word, values: Record<string, string | number> = {}): string {
  return words[word].replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ""));
}

/** Whether there are words of ours for a word of the board's. */
export const isWord = (word: string): word is Word => Object.hasOwn(en, word);

/** Our words for a word of the board's (a state, an agent), or its own. */
export const tOr = (prefix: string, word: string): string => (isWord(`${prefix}.${word}`) ? t(`${prefix}.${word}` as Word) : word.replaceAll("_", " "));

/** Take the words of a language: Bengali's are loaded when somebody chooses them. */
export async function speak(language: Language): Promise<void> {
  words = language === "bn" ? (await import("./bn.json")).default satisfies Words : en;
  document.documentElement.lang = language;
}
