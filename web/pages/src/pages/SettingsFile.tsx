/* One file of settings: each field with what it means and what it is; numbers, choices and short words can be changed. */

import { type ReactNode, useEffect, useId, useState } from "react";
import type { SettingAnswer, SettingForm, SettingsFileAnswer } from "../api/types";
import { t } from "../words/words";
import { useOrder } from "../parts/ordering";
import { Lines } from "../parts/parts";
import { Plain } from "../parts/Plain";
import { useWho } from "../parts/who";

type Drafts = Record<string, string>;

export function SettingsFile({ of }: { of: SettingsFileAnswer }): ReactNode {
  const [base, setBase] = useState(of); // what was changed from here
  const [drafts, setDrafts] = useState<Drafts>({});
  const [isAsked, setAsked] = useState(false);
  const { busy, problem, send } = useOrder(of.digest + JSON.stringify(drafts));
  const { owns } = useWho();
  const changes = base.fields.filter((one) => one.key in drafts);
  const isChanged = changes.length > 0;
  const isOld = of.digest !== base.digest;
  const errors = problem?.value.errors ?? [];
  const start = (): void => {
    setBase(of);
    setDrafts({});
    setAsked(false);
  };
  useEffect(() => {
    if (of !== base && !isChanged) start();
  });
  function change(key: string, text: string): void {
    const { [key]: _, ...others } = drafts;
    setDrafts(text === shown(valueOf(base.values, key)) ? others : { ...others, [key]: text });
    setAsked(false);
  }
  async function save(): Promise<void> {
    const isGrave = changes.some((one) => one.grave);
    if (isGrave && !isAsked) return setAsked(true);
    const values = Object.fromEntries(changes.map(({ key, form }) => [key, form && read(form, drafts[key] ?? "")]));
    const body = { file: base.file, values, confirmed: isGrave };
    setAsked(false);
    if (await send("settings", body, { "If-Match": `"${base.digest}"` }, "PUT")) setDrafts({});
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <dl className="fields">
        {base.fields.map((one) => (
          <Row key={one.key} field={one} value={valueOf(base.values, one.key)} draft={drafts[one.key]} change={owns ? change : undefined} error={errors.find(({ at }) => at === one.key)?.says} />
        ))}
      </dl>
      {isChanged && (
        <div className="bar">
          <Lines of={errors.filter(({ at }) => !base.fields.some((one) => one.key === at)).map(({ at, says }) => `${at}: ${says}`)} />
          {isOld && (
            <p className="tag bad" role="alert">
              {t("settings.moved")}
            </p>
          )}
          {isAsked && (
            <div role="alert">
              <h2>{t("settings.ask")}</h2>
              <Lines of={changes.map(({ key }) => `${key}: ${shown(valueOf(base.values, key))} → ${drafts[key]}`)} />
            </div>
          )}
          <div className="actions">
            <button type="submit" className={isAsked ? "main grave" : "main"} disabled={busy || isOld}>
              {t(isAsked ? "settings.yes" : "save")}
            </button>
            <button type="button" onClick={start}>
              {t("undo")}
            </button>
          </div>
        </div>
      )}
    </form>
  );
}

interface Rowed {
  field: SettingAnswer;
  value: unknown;
  draft: string | undefined;
  change: ((key: string, text: string) => void) | undefined;
  error: string | undefined;
}

function Row({ field: { key, meaning, default: otherwise, form }, value, draft, change, error }: Rowed): ReactNode {
  const id = useId();
  const isOpen = form !== null && change !== undefined;
  const about = { id, "aria-describedby": `${id}-about`, "aria-invalid": error ? true : undefined };
  const text = draft ?? shown(value);
  const choices = form?.enum ?? (form?.type === "boolean" ? ["true", "false"] : null);
  return (
    <div>
      <dt>
        {isOpen ? (
          <label htmlFor={id}>
            <code>{key}</code>
          </label>
        ) : (
          <code>{key}</code>
        )}{" "}
        {!isOpen && value !== undefined && <code className="value">{typeof value === "string" ? value : JSON.stringify(value)}</code>}
      </dt>
      <dd>
        {isOpen &&
          (choices ? (
            <select {...about} value={text} onChange={(event) => change(key, event.target.value)}>
              {(choices.includes(text) ? choices : [text, ...choices]).map((one) => (
                <option key={one} value={one}>
                  {form.type === "boolean" && one ? t(one === "true" ? "on" : "off") : one || t("settings.empty")}
                </option>
              ))}
            </select>
          ) : (
            <input {...about} type="text" inputMode={form.type === "integer" && !form.format ? "numeric" : form.type === "string" ? undefined : "decimal"} placeholder={form.examples?.[0]} autoComplete="off" maxLength={200} value={text} onChange={(event) => change(key, event.target.value)} />
          ))}
        <span id={`${id}-about`}>
          {error && <b className="tag bad">{error} </b>}
          <Plain text={meaning} /> <span className="soft">{t("settings.default", { value: otherwise.replaceAll("`", "") })}</span>
        </span>
      </dd>
    </div>
  );
}

/** What stands at `a.b`; nothing for a key of which there are several. */
function valueOf(values: Record<string, unknown> | null, key: string): unknown {
  return key.split(".").reduce<unknown>((found, step) => (found && typeof found === "object" ? (found as Record<string, unknown>)[step] : undefined), values);
}

/** As it stands in a field: amounts have nine decimals, of which a person wants two. */
const shown = (value: unknown): string => String(value ?? "").replace(/^(\d+\.\d{2}\d*?)0+$/, "$1");

/** As the file takes it; what is no number goes as it was typed, so that the board says what is wanted. */
function read({ type, optional }: SettingForm, text: string): unknown {
  const plain = text.trim();
  if (type === "boolean") return plain === "true";
  if (optional && !plain) return null;
  if (type === "string" || !/^\d{1,15}([.,]\d{1,9})?$/.test(plain)) return plain;
  return Number(plain.replace(",", "."));
}
