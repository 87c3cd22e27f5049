/* The owner's file: changed here as in an editor, and while one types what would be read of it. No model is asked. */

import { type ReactNode, useEffect, useState } from "react";
import { order, Problem } from "../api/ask";
import { useRead } from "../api/reading";
import type { FileAnswer, Remark, VisionAnswer, VisionPreviewAnswer } from "../api/types";
import { useOrder } from "../parts/ordering";
import { Part, Tag, Trouble, Waiting } from "../parts/parts";
import { Plain } from "../parts/Plain";
import { useWho } from "../parts/who";
import { t } from "../words/words";

const PAUSE = 600; // ms after the last letter
const MOST = 20;

export default function Vision(): ReactNode {
  const { data, error } = useRead<VisionAnswer | FileAnswer>("vision");
  if (!data) return error ? <Trouble problem={error} /> : <Waiting />;
  return (
    <>
      <h1>{t("page.vision")}</h1>
      <Editor facts={data.value} />
    </>
  );
}

function Editor({ facts }: { facts: VisionAnswer | FileAnswer }): ReactNode {
  const [base, setBase] = useState({ text: facts.text, digest: facts.digest }); // what was changed from here
  const [text, setText] = useState(facts.text);
  const { busy, send } = useOrder(`vision ${base.digest}`);
  const { owns } = useWho();
  const isChanged = text !== base.text;
  const isOld = facts.digest !== base.digest;
  const [found, problem] = usePreview(text, isChanged);
  const read = found ?? ("goals" in facts ? facts : null);
  const start = (): void => {
    setBase({ text: facts.text, digest: facts.digest });
    setText(facts.text);
  };
  useEffect(() => {
    if (isOld && !isChanged) start();
  });
  async function save(): Promise<void> {
    if (await send("vision", { text }, { "If-Match": `"${base.digest}"` }, "PUT")) setBase({ text, digest: "" });
  }
  return (
    <div className="beside">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <label>
          {t("vision.text")}
          <textarea className="page" dir="auto" spellCheck={false} rows={22} readOnly={!facts.is_whole || !owns} value={text} onChange={(event) => setText(event.target.value)} />
        </label>
        {!facts.is_whole && <p className="tag wait">{t("vision.key")}</p>}
        {isOld && isChanged && base.digest && (
          <div className="notice bad" role="alert">
            {t("vision.moved")}{" "}
            <button type="button" onClick={start}>
              {t("vision.take")}
            </button>
          </div>
        )}
        {owns && (
          <div className="actions">
            <button type="submit" className="main" disabled={busy || !isChanged || (isOld && base.digest !== "")}>
              {t("save")}
            </button>
            <button type="button" disabled={!isChanged} onClick={start}>
              {t("undo")}
            </button>
          </div>
        )}
      </form>
      <div aria-live="polite">
        <h2>{t(isChanged ? "vision.would" : "vision.is")}</h2>
        {problem && <Trouble problem={problem} />}
        {facts.problem && !isChanged && <Plain text={facts.problem} />}
        {read && <Read of={read} />}
      </div>
    </div>
  );
}

/** What would be read of the text; asked when nobody types any more. */
function usePreview(text: string, isChanged: boolean): [VisionPreviewAnswer | null, Problem | null] {
  const [found, setFound] = useState<VisionPreviewAnswer | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  useEffect(() => {
    setProblem(null);
    if (!isChanged) {
      setFound(null);
      return;
    }
    let isLate = false;
    const asking = setTimeout(() => {
      order<VisionPreviewAnswer>("vision/preview", { text }).then(
        (now) => isLate || (setFound(now), setProblem(null)),
        (error: unknown) => isLate || (error instanceof Problem && setProblem(error)),
      );
    }, PAUSE);
    return () => {
      isLate = true;
      clearTimeout(asking);
    };
  }, [text, isChanged]);
  return [found, problem];
}

function Read({ of }: { of: VisionPreviewAnswer }): ReactNode {
  return (
    <>
      {of.lost_guards.length ? (
        <div className="notice bad" role="alert">
          <p className="tag bad">{t("vision.lost")}</p>
          <ul>
            {of.lost_guards.map((one) => (
              <li key={one}>
                <Plain text={one} />
              </li>
            ))}
          </ul>
        </div>
      ) : null}
      <Some title={t("vision.warnings")} of={of.warnings.map(numbered)} />
      <Part title={t("vision.goals")}>
        {of.goals.length ? (
          <ul>
            {of.goals.slice(0, MOST).map((one) => (
              <li key={one.id} dir="auto">
                {one.change && <Tag tone="good">{t(`change.${one.change}`)} </Tag>}
                <Plain text={one.title} /> <span className="soft">{t(`priority.${one.priority}`)}</span>
              </li>
            ))}
            {of.goals.length > MOST && <li className="soft">{t("and.more", { count: of.goals.length - MOST })}</li>}
          </ul>
        ) : (
          <p className="soft">{t("none")}</p>
        )}
      </Part>
      <Some title={t("vision.removed")} of={of.removed.map((one) => one.text)} />
      {of.guards.length ? (
        <Part title={t("vision.guards")}>
          <ul>
            {of.guards.map((one) => (
              <li key={one.note} dir="auto">
                <Plain text={one.note} /> <span className="soft">{one.patterns.length ? <code>{one.patterns.join(" ")}</code> : t("vision.guards.nothing")}</span>
              </li>
            ))}
          </ul>
        </Part>
      ) : null}
      <Some title={t("vision.wishes")} of={of.wishes.map((one) => one.text)} />
      <Some title={t("vision.ideas")} of={of.ideas.map((one) => one.text)} />
      <Some title={t("vision.questions")} of={of.questions.map((one) => one.text)} />
      <Some title={t("vision.model")} of={of.model_asked.map(numbered)} />
    </>
  );
}

const numbered = (one: Remark): string => t("line.number", { line: one.line, text: one.text });

function Some({ title, of }: { title: string; of: string[] }): ReactNode {
  if (!of.length) return null;
  return (
    <Part title={title}>
      <ul>
        {of.slice(0, MOST).map((one, at) => (
          <li key={at} dir="auto">
            <Plain text={one} />
          </li>
        ))}
        {of.length > MOST && <li className="soft">{t("and.more", { count: of.length - MOST })}</li>}
      </ul>
    </Part>
  );
}
