/* Who is signed in, and which buttons that is worth: the board refuses all others anyway (web/api/base/rights.py). */

import { useRead } from "../api/reading";

interface Who {
  role: string;
  name: string; // of who came with an account at `by`; empty: by a link
  by: string;
}

/** `decides`: answers, rules on changes and plans; `owns`: caps, deploys, files of the team, too. */
export function useWho(): Who & { decides: boolean; owns: boolean } {
  const who = useRead<Who>("session").data?.value ?? { role: "owner", name: "", by: "" }; // until it is known
  return { ...who, decides: who.role === "owner" || who.role === "reviewer", owns: who.role === "owner" };
}
