/* The passkeys of who is signed in, and for an owner all: add one here, delete one that is lost. */

import { type ReactNode, useState } from "react";
import { Problem } from "../api/ask";
import { readAgain, useRead } from "../api/reading";
import type { BoardSession, Passkey, PasskeysAnswer } from "../api/types";
import { say, Tag, Trouble, Waiting } from "../parts/parts";
import { Plain } from "../parts/Plain";
import { moment } from "../words/figures";
import { t } from "../words/words";
import { addPasskey, deletePasskey, isAble } from "./passkeys";

export function Passkeys(): ReactNode {
  const { data, error } = useRead<PasskeysAnswer>("passkeys");
  const mine = useRead<BoardSession>("session").data?.value.passkey;
  if (!data) return error ? <Trouble problem={error} /> : <Waiting />;
  const { passkeys, is_here, at } = data.value;
  return (
    <>
      <p className="soft">{t("passkeys.what")}</p>
      {is_here ? isAble() ? <Add /> : <p>{t("passkey.old")}</p> : <p>{at ? t("passkeys.elsewhere", { at }) : t("passkeys.nowhere")}</p>}
      <ul>
        {passkeys.map((one) => (
          <li key={one.id}>
            <One of={one} isMine={one.id === mine} />
          </li>
        ))}
      </ul>
    </>
  );
}

/** What is done to a passkey: whether it is being done, and how to do it. What it is refused with is said. */
function usePress(): [boolean, (what: () => Promise<void>) => Promise<void>] {
  const [busy, setBusy] = useState(false);
  async function press(what: () => Promise<void>): Promise<void> {
    setBusy(true);
    try {
      await what();
      await readAgain();
      say(t("done"));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      say(error.message || t("no.answer"), true);
    } finally {
      setBusy(false);
    }
  }
  return [busy, press];
}

function Add(): ReactNode {
  const [name, setName] = useState("");
  const [busy, press] = usePress();
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void press(() => addPasskey(name.trim()).then(() => setName("")));
      }}
    >
      <label htmlFor="passkey-name">{t("passkey.name")}</label>
      <input id="passkey-name" type="text" autoComplete="off" maxLength={40} value={name} onChange={(event) => setName(event.target.value)} />
      <div className="actions">
        <button type="submit" disabled={busy || !name.trim()}>
          {t("passkey.add")}
        </button>
      </div>
    </form>
  );
}

function One({ of: { id, name, role, site, made, used }, isMine }: { of: Passkey; isMine: boolean }): ReactNode {
  const [isAsked, setAsked] = useState(false);
  const [busy, press] = usePress();
  return (
    <>
      <b dir="auto">
        <Plain text={name} />
      </b>{" "}
      <code>{id}</code> <Tag tone="">{role}</Tag> {isMine && <Tag tone="good">{t("passkey.mine")}</Tag>}
      <p className="soft">{t("passkey.of", { site, made: moment(made), used: moment(used) })}</p>
      {isAsked && <p role="alert">{t("passkey.ask")}</p>}
      <div className="actions">
        <button type="button" className={isAsked ? "grave" : ""} disabled={busy} onClick={() => (isAsked ? void press(() => deletePasskey(id)) : setAsked(true))}>
          {isAsked ? t("passkey.yes") : t("passkey.delete")}
        </button>
        {isAsked && (
          <button type="button" onClick={() => setAsked(false)}>
            {t("not.yet")}
          </button>
        )}
      </div>
    </>
  );
}
