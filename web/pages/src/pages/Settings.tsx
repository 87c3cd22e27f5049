/* How the page looks and hears, here in this browser. */

import { type ReactNode, useState } from "react";
import { Passkeys } from "../access/Passkeys";
import { choose, useChoice } from "../look";
import { useRead } from "../api/reading";
import type { SettingsAnswer } from "../api/types";
import { Lines, Part, Tag, Trouble, Waiting } from "../parts/parts";
import { Phone } from "./Phone";
import { SettingsFile } from "./SettingsFile";
import { t } from "../words/words";
import { Opened } from "./Talk";

export default function Settings(): ReactNode {
  return (
    <>
      <h1>{t("page.settings")}</h1>
      <Part title={t("this.browser")}>
        <Choose name="language" label={t("language")} of={[["en", "English"], ["bn", "বাংলা"]]} />
        <Choose name="theme" label={t("theme")} of={[["", t("theme.system")], ["light", t("theme.light")], ["dark", t("theme.dark")]]} />
        <Choose name="keys" label={t("keys.single")} of={[["on", t("on")], ["off", t("off")]]} />
      </Part>
      <Part title={t("passkeys")}>
        <Passkeys />
      </Part>
      <Phone />
      <Part title={t("of.the.team")}>
        <Configured />
      </Part>
    </>
  );
}

/** The files of config/, each key with what it means and what it is. */
function Configured(): ReactNode {
  const { data, error } = useRead<SettingsAnswer>("settings");
  if (!data) return error ? <Trouble problem={error} /> : <Waiting />;
  const { files, secrets, errors } = data.value;
  return (
    <>
      <p className="soft">{t("settings.where")}</p>
      {errors.length > 0 && (
        <div className="notice bad">
          <Lines of={errors} />
        </div>
      )}
      {files.map((one) => (
        <details key={one.file} className="opened">
          <summary data-row>
            <code>{one.file}</code>
          </summary>
          <SettingsFile of={one} />
        </details>
      ))}
      <Opened title={t("secrets")}>
        {() => (
          <ul>
            {secrets.map((one) => (
              <li key={one.name}>
                <code>{one.name}</code> <Tag tone={one.is_set ? "good" : ""}>{t(one.is_set ? "is.set" : "is.not.set")}</Tag>
              </li>
            ))}
          </ul>
        )}
      </Opened>
    </>
  );
}

function Choose({ name, label, of }: { name: "language" | "theme" | "keys"; label: string; of: [string, string][] }): ReactNode {
  const [picked, setPicked] = useState(useChoice(name)); // at once; words and letters of a language come later
  const pick = (value: string): void => {
    setPicked(value);
    void choose(name, value);
  };
  return (
    <fieldset>
      <legend>{label}</legend>
      {of.map(([value, text]) => (
        <label key={value} className="choice" lang={value === "bn" ? "bn" : undefined}>
          <input type="radio" name={name} checked={picked === value} onChange={() => pick(value)} /> {text}
        </label>
      ))}
    </fieldset>
  );
}
