/* Passkeys: what the browser's own authenticator signs, asked for by the board. Loaded when somebody presses for one. */

import { ask, begin, order, Problem } from "../api/ask";
import type { ChallengeAnswer, OfferAnswer } from "../api/types";
import { signedIfAsked } from "../parts/ordering";
import { t } from "../words/words";

/** Of what a browser answers what the board reads, in base64url. `signature`: of a passkey that signs in. */
interface Signed {
  id: string;
  response: { clientDataJSON: string; authenticatorData: string; signature?: string };
}

/** Whether this browser can speak to an authenticator in the board's words. */
export const isAble = (): boolean => "PublicKeyCredential" in window && "parseCreationOptionsFromJSON" in PublicKeyCredential;

export async function signInByPasskey(): Promise<void> {
  await begin("session/passkey", await signed(await order<ChallengeAnswer>("session/challenge", {})));
}

/** Let the device sign what the board has asked for, as the board reads it. */
export async function signed({ ticket, options }: ChallengeAnswer): Promise<object> {
  if (!isAble()) throw new Problem(409, { title: t("passkey.old") });
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  const { id, response } = await answered(navigator.credentials.get({ publicKey }));
  return { ticket, credential: id, client: response.clientDataJSON, authenticator: response.authenticatorData, signature: response.signature };
}

export async function addPasskey(name: string): Promise<void> {
  const { ticket, options } = await signedIfAsked((more) => order<OfferAnswer>("session/offer", { name, ...more }));
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  const { response } = await answered(navigator.credentials.create({ publicKey }));
  await order("passkeys", { ticket, name, client: response.clientDataJSON, authenticator: response.authenticatorData });
}

export async function deletePasskey(id: string): Promise<void> {
  const answer = await ask(`passkeys/${id}`, { method: "DELETE" });
  if (!answer.ok) throw new Problem(answer.status, (await answer.json()) as { title?: string });
}

/** What it has signed, in JSON. A browser does not say why there is none: cancelled, too late, or it has no passkey. */
async function answered(asked: Promise<Credential | null>): Promise<Signed> {
  try {
    return ((await asked) as PublicKeyCredential).toJSON() as Signed;
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    throw new Problem(409, { title: t(error.name === "InvalidStateError" ? "passkey.there" : "passkey.none") });
  }
}
