/* How the page looks and hears, here in this browser. */

import type { ReactNode } from "react";
import { choose, useChoice } from "../look";
import { Part } from "../parts/parts";
import { t } from "../words/words";

export default function Settings(): ReactNode {
  return (
    <>
      <h1>{t("page.settings")}</h1>
      <Part title={t("this.browser")}>
        <Choose name="language" label={t("language")} of={[["en", "English"], ["bn", "বাংলা"]]} />
        <Choose name="theme" label={t("theme")} of={[["", t("theme.system")], ["light", t("theme.light")], ["dark", t("theme.dark")]]} />
        <Choose name="keys" label={t("keys.single")} of={[["on", t("on")], ["off", t("off")]]} />
      </Part>
    </>
  );
}

function Choose({ name, label, of }: { name: "language" | "theme" | "keys"; label: string; of: [string, string][] }): ReactNode {
  const now = useChoice(name);
  return (
    <fieldset>
      <legend>{label}</legend>
      {of.map(([value, text]) => (
        <label key={value} className="choice" lang={value === "bn" ? "bn" : undefined}>
          <input type="radio" name={name} checked={now === value} onChange={() => void choose(name, value)} /> {text}
        </label>
      ))}
    </fieldset>
  );
}
