/* Whether this browser is notified of what waits, and which others are. Nothing is asked of it before it is pressed. */

import { type ReactNode, useEffect, useState } from "react";
import { order, Problem } from "../api/ask";
import { readAgain, useRead } from "../api/reading";
import type { PushesAnswer, PushTestAnswer } from "../api/types";
import { Part, say, Tag, Trouble } from "../parts/parts";
import { Plain } from "../parts/Plain";
import { here, switchOff, switchOn, whyNot } from "../phone";
import { moment } from "../words/figures";
import { t } from "../words/words";

export function Phone(): ReactNode {
  const { data, error } = useRead<PushesAnswer>("pushes");
  const [busy, setBusy] = useState(false);
  const [mine, setMine] = useState("");
  const facts = data?.value;
  useEffect(() => void here().then(setMine), [facts]);
  if (!facts) return error ? <Trouble problem={error} /> : null;
  if (!facts.key) return null; // who only looks has nothing to answer
  const isOn = facts.pushes.some((one) => one.id === mine);
  const press = (what: () => Promise<void>): void => {
    setBusy(true);
    say("");
    void what()
      .catch((problem: unknown) => say(problem instanceof Problem ? problem.message || t("no.answer") : t("phone.not", { why: String(problem) }), true))
      .finally(() => {
        setBusy(false);
        void readAgain();
      });
  };
  const begin = async (): Promise<void> => say(t((await switchOn(facts.key)) ? "phone.done" : "phone.blocked"));
  const test = async (id: string): Promise<void> => {
    const { taken, says } = await order<PushTestAnswer>(`pushes/${id}/test`, {});
    say(t(taken ? "phone.taken" : "phone.not", { why: says }), !taken);
  };
  const why = whyNot();
  return (
    <Part title={t("phone")}>
      <p className="soft">{t("phone.means")}</p>
      {why ? (
        <p>{t(`phone.${why}`)}</p>
      ) : (
        !isOn && (
          <button type="button" disabled={busy} onClick={() => press(begin)}>
            {t("phone.on")}
          </button>
        )
      )}
      {facts.pushes.map((one) => (
        <article key={one.id} className="item">
          <p>
            <b>{one.id === mine ? t("this.browser") : one.id}</b> <span className="soft">{one.service}</span> <Tag tone={one.why ? "bad" : "good"}>{one.why ? t("phone.fails") : one.told ? t("phone.told", { time: moment(one.told) }) : t("on")}</Tag>
          </p>
          {one.why && (
            <p className="soft">
              <Plain text={one.why} />
            </p>
          )}
          <div className="actions">
            <button type="button" disabled={busy} onClick={() => press(() => test(one.id))}>
              {t("phone.test")}
            </button>
            <button type="button" disabled={busy} onClick={() => press(() => switchOff(one.id))}>
              {t("phone.off")}
            </button>
          </div>
        </article>
      ))}
    </Part>
  );
}
