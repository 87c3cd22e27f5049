/* Who is signed in, and which buttons that is worth: the board refuses all others anyway (web/api/base/rights.py). */

import { useRead } from "../api/reading";
import type { BoardSession } from "../api/types";

/** `decides`: answers, rules on changes and plans; `owns`: caps, deploys, files of the team, too. */
export function useWho(): Pick<BoardSession, "role" | "name" | "by"> & { decides: boolean; owns: boolean } {
  const who = useRead<BoardSession>("session").data?.value ?? { role: "owner", name: "", by: "" }; // until it is known
  return { ...who, decides: who.role === "owner" || who.role === "reviewer", owns: who.role === "owner" };
}
