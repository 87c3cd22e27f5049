/* An order of the owner's: sent once, what came of it is said, and all is read again. */

import { useMemo, useState } from "react";
import { newKey, order, Problem } from "../api/ask";
import { readAgain } from "../api/reading";
import type { DoneAnswer } from "../api/types";
import { t } from "../words/words";
import { say } from "./parts";

interface Ordering {
  busy: boolean;
  problem: Problem | null; // what the last one was refused with
  send: (name: string, body: unknown, headers?: Record<string, string>, method?: "POST" | "PUT") => Promise<boolean>;
}

/** `form`: what the order is about; pressed twice for the same it is done once. */
export function useOrder(form: string): Ordering {
  const [busy, setBusy] = useState(false);
  const [sent, setSent] = useState(0);
  const [problem, setProblem] = useState<Problem | null>(null);
  const key = useMemo(newKey, [form, sent]);
  async function send(name: string, body: unknown, headers: Record<string, string> = {}, method: "POST" | "PUT" = "POST"): Promise<boolean> {
    setBusy(true);
    setProblem(null);
    try {
      const done = await signedIfAsked((more) => order<Partial<DoneAnswer>>(name, { ...(body as object), ...more }, { "Idempotency-Key": key, ...headers }, method));
      setSent(sent + 1);
      await readAgain();
      say([done.told, done.next].filter(Boolean).join("; ") || t("done"));
      return true;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      setProblem(error);
      if (error.status === 409 || error.status === 412) await readAgain();
      say(error.status === 404 ? t("not.offered") : error.message || t("no.answer"), true);
      return false;
    } finally {
      setBusy(false);
    }
  }
  return { busy, problem, send };
}

/** Where the board wants a passkey's signature for exactly this order, it is sent once more, with it. */
export async function signedIfAsked<T>(send: (more: object) => Promise<T>): Promise<T> {
  try {
    return await send({});
  } catch (error) {
    if (!(error instanceof Problem) || !error.value.asked) throw error;
    say(t("passkey.sign"));
    const { signed } = await import("../access/passkeys");
    return send({ passkey: await signed(error.value.asked) });
  }
}
