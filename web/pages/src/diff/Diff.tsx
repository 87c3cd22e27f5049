/* What a change alters: by file, in sections of rows that cost nothing while nobody sees them; all of it can be searched. */

import { memo, type ReactNode, useEffect, useState } from "react";
import { useRead } from "../api/reading";
import type { DiffAnswer, EvidenceAnswer } from "../api/types";
import { choose, useChoice, useIsWide } from "../look";
import { Trouble, Waiting } from "../parts/parts";
import { Plain } from "../parts/Plain";
import { count } from "../words/figures";
import { t } from "../words/words";
import { type ChangedFile, NOTHING, type Parsed, readOn } from "./files";
import { Rows, useGrowing } from "./Rows";

const FILES_AT_ONCE = 2;
const WIDE = 900; // pixels

/** Read page after page, when they are asked for; what was read stays. */
export function useFiles(id: string): { files: ChangedFile[]; commit: string; next: number | null; more: () => void; page: ReturnType<typeof useRead<DiffAnswer>> } {
  const [begin, setBegin] = useState(0);
  const [read, setRead] = useState<Read>({ pages: [], parsed: NOTHING });
  const page = useRead<DiffAnswer>(`tasks/${encodeURIComponent(id)}/diff?begin=${begin}`);
  const now = page.data?.value;
  useEffect(() => {
    if (!now) return;
    setRead((before) => withPage(before, now));
    if (now.begin !== begin) setBegin(0);
  }, [now, begin]);
  const last = read.pages.at(-1);
  const next = last?.next ?? null;
  return { files: read.parsed.files, commit: last?.commit ?? "", next, page, more: () => next !== null && setBegin(next) };
}

interface Read {
  pages: DiffAnswer[];
  parsed: Parsed;
}

/** Only what is new is parsed; a page of another commit, or one that was read before, begins anew. */
function withPage({ pages, parsed }: Read, now: DiffAnswer): Read {
  if (pages[0]?.commit === now.commit && pages.every((one) => one.begin < now.begin)) return { pages: [...pages, now], parsed: readOn(parsed, now.lines) };
  const kept = pages[0]?.commit === now.commit ? [...pages.filter((one) => one.begin < now.begin), now] : [now];
  return { pages: kept, parsed: kept.reduce((sum, one) => readOn(sum, one.lines), NOTHING) };
}

export const told = (files: readonly ChangedFile[]): string =>
  t("files.told", {
    files: count(files.length),
    plus: count(files.reduce((sum, one) => sum + one.plus, 0)),
    minus: count(files.reduce((sum, one) => sum + one.minus, 0)),
  });

/** `task`: whose coder reads what is said about lines; empty: nobody would. */
export function Diff({ found, uncovered, task }: { found: ReturnType<typeof useFiles>; uncovered: EvidenceAnswer["uncovered"]; task: string }): ReactNode {
  const isWide = useIsWide(WIDE);
  const chosen = useChoice("diff");
  const wraps = useChoice("wrap") === "on";
  const isSplit = isWide && chosen !== "unified";
  const { files, commit, next, more, page } = found;
  const { shown } = useGrowing(files.length, FILES_AT_ONCE, null);
  if (page.error && !files.length) return <Trouble problem={page.error} />;
  if (!page.data && !files.length) return <Waiting />;
  return (
    <>
      <div className="actions small">
        {isWide && (
          <button type="button" aria-pressed={isSplit} onClick={() => void choose("diff", isSplit ? "unified" : "split")}>
            {t("diff.split")}
          </button>
        )}
        <button type="button" aria-pressed={wraps} onClick={() => void choose("wrap", wraps ? "off" : "on")}>
          {t("diff.wrap")}
        </button>
      </div>
      {task && <p className="soft">{t("comment.how")}</p>}
      {files.length > 1 && (
        <ol className="files">
          {files.map((one, at) => (
            <li key={one.path}>
              <a href={`#file-${at}`}>
                <Plain text={one.path} />
              </a>{" "}
              <Counts of={one} />
            </li>
          ))}
        </ol>
      )}
      {files.slice(0, shown).map((one, at) => (
        <File key={`${commit} ${one.path}`} at={at} one={one} missed={uncovered[one.path] ?? NONE} isSplit={isSplit} wraps={wraps} task={task} commit={commit} />
      ))}
      {next !== null && (
        <button type="button" disabled={!page.data} onClick={more}>
          {t("more.lines")}
        </button>
      )}
      {page.error && <Trouble problem={page.error} />}
    </>
  );
}

const NONE: number[] = [];

function Counts({ of }: { of: ChangedFile }): ReactNode {
  return (
    <span className="soft counts">
      <span className="good">+{of.plus}</span> <span className="bad">−{of.minus}</span>
    </span>
  );
}

interface Shown {
  at: number;
  one: ChangedFile;
  missed: number[];
  isSplit: boolean;
  wraps: boolean;
  task: string;
  commit: string;
}

/** Of one commit the rows of a file are others only when it was read on. */
const isSame = (one: Shown, other: Shown): boolean =>
  one.one.rows === other.one.rows && one.at === other.at && one.missed === other.missed && one.isSplit === other.isSplit && one.wraps === other.wraps && one.task === other.task;

const File = memo(function File({ at, one, missed, isSplit, wraps, task, commit }: Shown): ReactNode {
  const [isOpen, setOpen] = useState(!one.folded);
  return (
    <details id={`file-${at}`} className="file" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary data-row>
        <Plain text={one.path} /> <Counts of={one} />
        {one.folded && <span className="soft"> {t(`fold.${one.folded}`, { rows: count(one.rows.length) })}</span>}
      </summary>
      {one.notes.map((note) => (
        <p className="soft note" key={note}>
          <Plain text={note} />
        </p>
      ))}
      {isOpen && one.rows.length > 0 && <Rows path={one.path} rows={one.rows} missed={missed} isSplit={isSplit} wraps={wraps} task={task} commit={commit} />}
    </details>
  );
}, isSame);
