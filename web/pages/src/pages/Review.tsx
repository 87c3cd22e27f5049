/* What is decided on: why it waits, what the gates saw and could not see, and the change, of exactly one commit. */

import type { ReactNode } from "react";
import { Link, useSearchParams } from "wouter";
import { useRead } from "../api/reading";
import type { EvidenceAnswer, ReviewAnswer, TaskAnswer } from "../api/types";
import { Diff, told, useFiles } from "../diff/Diff";
import { Actions, type Ruling, takesComments } from "../parts/Decide";
import { Asked, Lines, LinesPart, Part, Standing, Tag, Trouble, Waiting } from "../parts/parts";
import { Plain } from "../parts/Plain";
import { useWho } from "../parts/who";
import { age, dollars, moment, share } from "../words/figures";
import { t, type Word } from "../words/words";

export default function Review({ id }: { id: string }): ReactNode {
  const { decides } = useWho();
  const [query] = useSearchParams();
  const review = useRead<ReviewAnswer>(`tasks/${encodeURIComponent(id)}/review`);
  const task = useRead<TaskAnswer>(`tasks/${encodeURIComponent(id)}`);
  const found = useFiles(id);
  const problem = review.error ?? task.error;
  if (!review.data || !task.data) return problem ? <Trouble problem={problem} /> : <Waiting />;
  const seen = review.data.value;
  const facts = task.data.value;
  const evidence = "passed" in seen.evidence ? seen.evidence : null;
  const named = query.get("commit");
  const files = found.files.length ? told(found.files) : "";
  return (
    <>
      {problem && <Trouble problem={problem} />}
      <h1 dir="auto">
        <Plain text={facts.title || id} />
      </h1>
      <p className="soft">
        {[t(`state.${seen.state}`), files, "spent" in facts.cost ? t("cost.so.far", { amount: dollars(facts.cost.spent) }) : "", seen.commit && t("commit", { commit: seen.commit.slice(0, 8) })].filter(Boolean).join(" · ")}{" "}
        <Link href={`/task/${encodeURIComponent(id)}`}>{t("all.of.it")}</Link>
      </p>
      {named && !seen.commit.startsWith(named) && <div className="notice bad">{t("link.moved.on", { then: named.slice(0, 8), now: seen.commit.slice(0, 8) })}</div>}
      {seen.waits ? (
        <div className="notice">
          <p>
            <Tag tone="wait">{t("waits.for.you")}</Tag> {seen.since && <span className="soft">{t("since", { time: moment(seen.since), age: age(seen.since) })}</span>}
          </p>
          <Lines of={seen.reasons} />
        </div>
      ) : (
        <Lines of={seen.told.filter((one) => one.startsWith("you have approved"))} />
      )}
      <Asked words={seen.goal_words} said={seen.said} />
      <LinesPart title="not.seen" of={evidence?.not_seen} />
      <Judged of={seen.verdict} />
      <Part title={t("evidence")}>{evidence ? <Shown of={evidence} /> : <Standing word={seen.evidence.standing} />}</Part>
      {seen.commit ? (
        <Part title={t("the.change")}>
          <Diff found={found} uncovered={evidence?.uncovered ?? {}} task={decides && takesComments(seen.state) ? id : ""} />
        </Part>
      ) : (
        <p>{t("nothing.tested")}</p>
      )}
      <Actions id={id} state={seen.state} waits={seen.waits} files={files} first={(query.get("do") as Ruling | null) ?? undefined} />
    </>
  );
}

function Judged({ of }: { of: ReviewAnswer["verdict"] }): ReactNode {
  return (
    <Part title={t("verdict")}>
      <p>
        <Standing word={of.standing} /> {of.standing === "of another commit" && <span className="soft">{of.commit.slice(0, 8)}</span>}
      </p>
      {"word" in of && of.word && (
        <p dir="auto">
          <Plain text={of.word} />
        </p>
      )}
      {of.findings.length > 0 && (
        <ul>
          {of.findings.map((one, at) => (
            <li key={at} dir="auto" data-row tabIndex={-1}>
              <Tag tone={one.severity === "high" ? "bad" : one.severity === "medium" ? "wait" : ""}>{t(`severity.${one.severity}`)}</Tag> <Plain text={one.text} />{" "}
              <code>
                <Plain text={one.line ? `${one.path}:${one.line}` : one.path} />
              </code>
              {one.quote && (
                <pre>
                  <Plain text={one.quote} />
                </pre>
              )}
            </li>
          ))}
        </ul>
      )}
    </Part>
  );
}

// --- evidence --------------------------------------------------------------------------------------------------

interface Told {
  tests: readonly string[];
  more?: number;
  word: Word;
  tone: "good" | "bad" | "wait" | "";
}

/** What is known of each test that matters here: the worst first. */
function byTest(of: EvidenceAnswer): Told[] {
  const few = (name: "mended" | "still" | "left"): Pick<Told, "tests" | "more"> => {
    const { names, count } = of.compared[name];
    return { tests: names, more: count - names.length };
  };
  const proving = new Set(of.proving);
  const all: Told[] = [
    { ...few("still"), word: "test.still", tone: "bad" },
    { ...few("left"), word: "test.left", tone: "wait" },
    { tests: of.flaky, word: "test.flaky", tone: "wait" },
    { tests: of.proving, word: "test.proving", tone: "good" },
    { ...few("mended"), word: "test.mended", tone: "good" },
    { tests: of.new_tests.filter((one) => !proving.has(one)), word: "test.new", tone: "" },
  ];
  return all.filter((one) => one.tests.length);
}

function Shown({ of }: { of: EvidenceAnswer }): ReactNode {
  return (
    <>
      <p>
        <Standing word={of.standing} /> <Plain text={of.summary} />
      </p>
      <Lines of={of.problems.map((one) => one.text)} />
      {of.failures.map((one) => (
        <details key={one.test} className="failure">
          <summary data-row>
            <Tag tone="bad">{t("test.failed")}</Tag> <Plain text={one.test} />
          </summary>
          <pre>
            <Plain text={[one.where, one.text].filter(Boolean).join("\n")} />
          </pre>
        </details>
      ))}
      {byTest(of).map((one) => (
        <div key={one.word} className="tests">
          <Tag tone={one.tone}>{t(one.word)}</Tag>
          <ul>
            {one.tests.map((test) => (
              <li key={test}>
                <Plain text={test} />
              </li>
            ))}
          </ul>
          {one.more ? <p className="soft">{t("and.more", { count: one.more })}</p> : null}
        </div>
      ))}
      {of.covered !== null && (
        <p>
          {t("covered", { now: share(of.covered / 100) })}
          {of.covered_before !== null && of.covered_before !== of.covered && ` ${t("covered.before", { before: share(of.covered_before / 100) })}`}
        </p>
      )}
      <Lines of={of.tools.flatMap((one) => [`${one.name}: ${one.end}`, ...one.new])} soft />
      <details>
        <summary>{t("evidence.lines")}</summary>
        <Lines of={of.shown_by} />
      </details>
    </>
  );
}
