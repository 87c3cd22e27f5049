/* What a change alters: by file, in sections of rows that cost nothing while nobody sees them; all of it can be searched. */

import { memo, type ReactNode, useEffect, useMemo, useState } from "react";
import { useRead } from "../api/reading";
import type { DiffPage } from "../api/types";
import { choose, useChoice, useIsWide } from "../look";
import { Trouble, Waiting } from "../parts/parts";
import { Plain } from "../parts/Plain";
import { count } from "../words/figures";
import { t } from "../words/words";
import { type ChangedFile, filesOf, pairs, type Row } from "./files";

const SECTION = 50; // rows
const AT_ONCE = 6; // sections that one frame adds
const FILES_AT_ONCE = 2;
const WIDE = 900; // pixels
const ROW = 1.22; // rem: how high a row is that does not wrap

type Uncovered = Record<string, number[]>;

/** Read page after page, when they are asked for; what was read stays. */
export function useFiles(id: string): { files: ChangedFile[]; next: number | null; more: () => void; page: ReturnType<typeof useRead<DiffPage>> } {
  const [begin, setBegin] = useState(0);
  const [read, setRead] = useState<DiffPage[]>([]);
  const page = useRead<DiffPage>(`tasks/${encodeURIComponent(id)}/diff?begin=${begin}`);
  const now = page.data?.value;
  useEffect(() => {
    if (!now) return;
    setRead((before) => (before[0]?.commit === now.commit ? [...before.filter((one) => one.begin < now.begin), now] : [now]));
    if (now.begin !== begin) setBegin(0);
  }, [now, begin]);
  const files = useMemo(() => filesOf(read.flatMap((one) => one.lines)), [read]);
  const next = read.at(-1)?.next ?? null;
  return { files, next, page, more: () => next !== null && setBegin(next) };
}

export const told = (files: readonly ChangedFile[]): string =>
  t("files.told", {
    files: count(files.length),
    plus: count(files.reduce((sum, one) => sum + one.plus, 0)),
    minus: count(files.reduce((sum, one) => sum + one.minus, 0)),
  });

export function Diff({ found, uncovered }: { found: ReturnType<typeof useFiles>; uncovered: Uncovered }): ReactNode {
  const isWide = useIsWide(WIDE);
  const chosen = useChoice("diff");
  const wraps = useChoice("wrap") === "on";
  const isSplit = isWide && chosen !== "unified";
  const { files, next, more, page } = found;
  const shown = useGrowing(files.length, FILES_AT_ONCE);
  if (page.error && !files.length) return <Trouble problem={page.error} />;
  if (!page.data) return <Waiting />;
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
        <File key={`${page.data.value.commit} ${one.path}`} at={at} one={one} missed={uncovered[one.path] ?? NONE} isSplit={isSplit} wraps={wraps} />
      ))}
      {next !== null && (
        <button type="button" onClick={more}>
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
}

/** Of one commit a file changes only by being read on. */
const isSame = (one: Shown, other: Shown): boolean =>
  one.one.rows.length === other.one.rows.length && one.at === other.at && one.missed === other.missed && one.isSplit === other.isSplit && one.wraps === other.wraps;

const File = memo(function File({ at, one, missed, isSplit, wraps }: Shown): ReactNode {
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
      {isOpen && one.rows.length > 0 && <Rows rows={one.rows} missed={missed} isSplit={isSplit} wraps={wraps} />}
    </details>
  );
}, isSame);

function Rows({ rows, missed, isSplit, wraps }: { rows: Row[]; missed: number[]; isSplit: boolean; wraps: boolean }): ReactNode {
  const missing = useMemo(() => new Set(missed), [missed]);
  const whole = useMemo(() => (isSplit ? cut(pairs(rows)) : cut(rows.map((one): [Row, null] => [one, null]))), [rows, isSplit]);
  const shown = useGrowing(whole.length, AT_ONCE);
  return (
    <div className={`rows ${isSplit ? "split" : "unified"} ${wraps ? "wraps" : ""}`} tabIndex={wraps ? undefined : 0} role={wraps ? undefined : "region"} aria-label={wraps ? undefined : t("the.change")}>
      {whole.slice(0, shown).map((some, at) => (
        <Section key={at} rows={some} missing={missing} isSplit={isSplit} />
      ))}
    </div>
  );
}

type Pair = [Row | null, Row | null];

function cut(all: Pair[]): Pair[][] {
  return Array.from({ length: Math.ceil(all.length / SECTION) }, (_, at) => all.slice(at * SECTION, (at + 1) * SECTION));
}

/** A few more with each frame, so that none takes long. */
function useGrowing(whole: number, step: number): number {
  const [shown, setShown] = useState(step);
  useEffect(() => {
    if (shown >= whole) return;
    const next = requestAnimationFrame(() => setShown(shown + step));
    return () => cancelAnimationFrame(next);
  }, [shown, whole, step]);
  return shown;
}

const Section = memo(function Section({ rows, missing, isSplit }: { rows: Pair[]; missing: Set<number>; isSplit: boolean }): ReactNode {
  return (
    <div className="section" style={{ containIntrinsicHeight: `auto ${rows.length * ROW}rem` }}>
      {rows.map(([left, right], at) =>
        isSplit && left?.kind !== "hunk" && left?.kind !== "note" ? (
          <div key={at} className="pair">
            <Line row={left} side="old" missing={missing} />
            <Line row={right} side="new" missing={missing} />
          </div>
        ) : (
          <Line key={at} row={left} side="both" missing={missing} />
        ),
      )}
    </div>
  );
});

const SIGNS = { plus: "+", minus: "−", same: " ", hunk: "", note: "" } as const;

function Line({ row, side, missing }: { row: Row | null; side: "old" | "new" | "both"; missing: Set<number> }): ReactNode {
  if (!row) return <div className="line empty" />;
  const number = side === "old" ? row.old : (row.new ?? row.old);
  const isMissed = row.kind === "plus" && row.new !== undefined && missing.has(row.new);
  return (
    <div className={`line ${row.kind}`} data-number={number ?? ""} data-sign={SIGNS[row.kind]} data-missed={isMissed ? t("no.test.runs") : undefined}>
      <Plain text={row.text} />
    </div>
  );
}
