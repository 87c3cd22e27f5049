/* A button of the sign-in screen, where the browser knows passkeys. */

import { type ReactNode, useState } from "react";
import { Problem } from "../api/ask";
import { Plain } from "../parts/Plain";
import { t } from "../words/words";

export function ByPasskey(): ReactNode {
  const [busy, setBusy] = useState(false);
  const [why, setWhy] = useState("");
  if (!("PublicKeyCredential" in window)) return null;
  async function press(): Promise<void> {
    setBusy(true);
    setWhy("");
    try {
      const { isAble, signInByPasskey } = await import("./passkeys");
      if (isAble()) await signInByPasskey();
      else setWhy(t("passkey.old"));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      setWhy(error.message || t("no.answer"));
    } finally {
      setBusy(false);
    }
  }
  return (
    <>
      <p>
        <button type="button" disabled={busy} onClick={() => void press()}>
          {t("passkey.sign.in")}
        </button>
      </p>
      {why && (
        <div className="notice bad" role="alert">
          <Plain text={why} />
        </div>
      )}
    </>
  );
}
