/* Who is signed in, and which buttons that is worth: the board refuses all others anyway (web/api/base/rights.py). */

import { useRead } from "../api/reading";

/** `decides`: answers, rules on changes and plans; `owns`: caps, deploys, files of the team, too. */
export function useWho(): { role: string; decides: boolean; owns: boolean } {
  const role = useRead<{ role: string }>("session").data?.value.role ?? "owner"; // until it is known
  return { role, decides: role === "owner" || role === "reviewer", owns: role === "owner" };
}
