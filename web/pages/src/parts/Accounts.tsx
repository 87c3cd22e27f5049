/* Signing in with Google or GitHub, where the board knows them: the browser goes there, and comes back with #sign-in=… */

import { type ReactNode, useEffect, useState } from "react";
import { order, read, signedInThere } from "../api/ask";
import type { LeaveAnswer, SignInName, WaysAnswer } from "../api/types";
import { isWord, t } from "../words/words";

/** What was wrong with it, if somebody comes back from there; signed in, if nothing was. */
export function cameBack(said: string): string {
  if (said === "done") {
    signedInThere();
    return "";
  }
  const [, why = "", account = ""] = /^([a-z]+)(?::((?:google|github):[0-9]{1,30}))?$/.exec(said) ?? [];
  const word = `sign.in.no.${why}`;
  return t(isWord(word) ? word : "sign.in.no.again", { account: account.replace(":", ": ") });
}

export function Accounts(): ReactNode {
  const [ways, setWays] = useState<readonly SignInName[]>([]);
  const [why, setWhy] = useState("");
  useEffect(() => {
    void read<WaysAnswer>("sign-in").then(
      ({ value }) => setWays(value.ways),
      () => undefined, // the link is there all the same
    );
  }, []);
  const leave = (way: SignInName): Promise<void> =>
    order<LeaveAnswer>(`sign-in/${way}`, {}).then(
      ({ address }) => location.assign(address),
      (error: Error) => setWhy(error.message || t("sign.in.no.away")),
    );
  return (
    <>
      {ways.map((way) => (
        <p key={way}>
          <button type="button" onClick={() => void leave(way)}>
            {t(`sign.in.${way}`)}
          </button>
        </p>
      ))}
      <p role="status">{why}</p>
    </>
  );
}
