/* Text that somebody else wrote, as text. Letters that nobody sees are shown: a line could be read in another order. */

import type { ReactNode } from "react";
import { t } from "../words/words";

// Changes of direction, letters without width, tags; and what the board wrote in place of one.
const HIDDEN = /[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]|\[U\+[0-9A-F]{4,6}\]/gu;
const JOINER = /[\u200c\u200d]/;
const INDIC = /[\u0900-\u0dff]/; // Bengali and its kin: a joiner there makes another word
const PICTURE = /\p{Extended_Pictographic}|\ufe0f|[\u{1f3fb}-\u{1f3ff}]/u;

/** The text in pieces: words, and numbers of hidden letters. */
function pieces(text: string): (string | { hidden: string })[] {
  const found: (string | { hidden: string })[] = [];
  let at = 0;
  for (const one of text.matchAll(HIDDEN)) {
    if (belongs(text, one.index, one[0])) continue;
    if (one.index > at) found.push(text.slice(at, one.index));
    const code = one[0].startsWith("[") ? one[0].slice(1, -1) : `U+${(one[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
    found.push({ hidden: code });
    at = one.index + one[0].length;
  }
  return at ? [...found, text.slice(at)] : [text];
}

function belongs(text: string, at: number, letter: string): boolean {
  if (!JOINER.test(letter)) return false;
  const before = text.slice(Math.max(0, at - 2), at);
  return INDIC.test(before.slice(-1)) || (letter === "\u200d" && PICTURE.test(before));
}

export function Plain({ text }: { text: string }): ReactNode {
  const found = pieces(text);
  if (found.length === 1) return text;
  return found.map((one, at) =>
    typeof one === "string" ? (
      one
    ) : (
      <mark key={at} className="hidden-letter" title={t("hidden.letter")}>
        {one.hidden}
      </mark>
    ),
  );
}
