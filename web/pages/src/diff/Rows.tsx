/* The rows of one file, in sections that cost nothing while nobody sees them; and the words about them. */

import { type CSSProperties, Fragment, memo, type MouseEvent, type ReactNode, useEffect, useMemo, useState } from "react";
import { Plain } from "../parts/Plain";
import { t } from "../words/words";
import { Said, Writing } from "./Comment";
import { type Comment, isOf, quote, type Side, useComments } from "./comments";
import { pairs, type Row } from "./files";
import { isGutter, pressedIn } from "./lines";

const SECTION = 50; // rows
const AT_ONCE = 4; // sections that one frame adds
const QUICKER = 12; // times as many go as come
const ROW = 1.22; // rem: how high a row is that does not wrap
const NONE: Comment[] = [];

interface Rowed {
  path: string;
  rows: Row[];
  missed: number[];
  isSplit: boolean;
  wraps: boolean;
  task: string;
  commit: string;
}

export function Rows({ path, rows, missed, isSplit: wantsSplit, wraps, task, commit }: Rowed): ReactNode {
  const { shown, kind: isSplit } = useGrowing(Math.ceil(rows.length / SECTION), AT_ONCE, wantsSplit);
  const missing = useMemo(() => new Set(missed), [missed]);
  const whole = useMemo(() => (isSplit ? cut(pairs(rows)) : cut(rows.map((one): [Row, null] => [one, null]))), [rows, isSplit]);
  const columns = useMemo(() => widest(rows) + (missed.length ? t("no.test.runs").length + 6 : 0), [rows, missed]);
  const all = useComments(task);
  const [writing, setWriting] = useState<Comment | null>(null);
  const said = useMemo(() => all.filter((one) => one.path === path), [all, path]);

  function write(side: Side, line: number): void {
    const row = rows.find((one) => one[side] === line);
    const before = said.find((one) => one.side === side && one.line === line);
    if (row) setWriting({ path, side, line, text: before?.text ?? "", quoted: quote(row.text), commit });
  }
  function press(event: MouseEvent<HTMLElement>): void {
    const line = (event.target as HTMLElement).closest<HTMLElement>(".line[data-number]");
    const number = Number(line?.dataset.number);
    if (line && number && isGutter(event, line)) write(sideOf(line), number);
  }
  return (
    <div className={`rows ${isSplit ? "split" : "unified"} ${wraps ? "wraps" : ""}`} tabIndex={wraps && !task ? undefined : 0} role="region" aria-label={t("change.of", { path })} style={{ "--columns": `${columns}ch` } as CSSProperties} onClick={task ? press : undefined} onKeyDown={task ? pressedIn : undefined}>
      {whole.map((some, at) => (
        <Section key={at} rows={some} isShown={at < shown} missing={missing} isSplit={isSplit} task={task} said={among(said, some)} writing={writing && among([writing], some).length ? writing : null} write={setWriting} />
      ))}
    </div>
  );
}

const sideOf = (line: HTMLElement): Side => (line.matches(".minus, .pair > :first-child") ? "old" : "new");

type Pair = [Row | null, Row | null];

function cut(all: Pair[]): Pair[][] {
  return Array.from({ length: Math.ceil(all.length / SECTION) }, (_, at) => all.slice(at * SECTION, (at + 1) * SECTION));
}

const isAt = (one: Comment, [left, right]: Pair): boolean => (left && !right ? isOf(one, left, "both") : isOf(one, left, "old") || isOf(one, right, "new"));

/** Columns of the longest row; a letter that may be broad counts twice. */
function widest(rows: readonly Row[]): number {
  return rows.reduce((most, { text }) => (text.length * 4 <= most ? most : Math.max(most, text.replace(/\t/g, "    ").replace(/[^\x20-\x7e]/g, "  ").length)), 0);
}

/** Those that are about one of these rows. */
function among(said: Comment[], rows: Pair[]): Comment[] {
  const found = said.filter((one) => rows.some((pair) => isAt(one, pair)));
  return found.length ? found : NONE;
}

/** A few more with each frame, so that none takes long. Those of another kind go first, also not all at once. */
export function useGrowing<Kind>(whole: number, step: number, wanted: Kind): { shown: number; kind: Kind } {
  const [now, setNow] = useState({ shown: step, kind: wanted });
  const { shown, kind } = now;
  useEffect(() => {
    if (kind === wanted && shown >= whole) return;
    const isLeft = kind !== wanted && shown > step;
    const next = isLeft ? { shown: Math.max(step, shown - step * QUICKER), kind } : { shown: kind === wanted ? shown + step : step, kind: wanted };
    const frame = requestAnimationFrame(() => setNow(next));
    return () => cancelAnimationFrame(frame);
  }, [shown, kind, whole, step, wanted]);
  return now;
}

interface Sectioned {
  rows: Pair[];
  isShown: boolean;
  missing: Set<number>;
  isSplit: boolean;
  task: string;
  said: Comment[];
  writing: Comment | null;
  write: (one: Comment | null) => void;
}

const Section = memo(function Section({ rows, isShown, missing, isSplit, task, said, writing, write }: Sectioned): ReactNode {
  if (!isShown) return <div key="later" className="section" style={{ height: `${rows.length * ROW}rem` }} />;
  const below = (pair: Pair): ReactNode => {
    if (writing && isAt(writing, pair)) return <Writing key={`${writing.side} ${writing.line}`} task={task} at={writing} change={(text) => write({ ...writing, text })} end={() => write(null)} />;
    return said.filter((one) => isAt(one, pair)).map((one) => <Said key={`${one.side} ${one.line}`} task={task} one={one} change={() => write(one)} />);
  };
  return (
    <div key={isSplit ? "split" : "unified"} className="section" style={{ containIntrinsicHeight: `auto ${rows.length * ROW}rem` }}>
      {rows.map((pair, at) => (
        <Fragment key={at}>
          {isSplit && pair[0]?.kind !== "hunk" ? (
            <div className="pair">
              <Line row={pair[0]} side="old" missing={missing} />
              <Line row={pair[1]} side="new" missing={missing} />
            </div>
          ) : (
            <Line row={pair[0]} side="both" missing={missing} />
          )}
          {(writing || said.length > 0) && below(pair)}
        </Fragment>
      ))}
    </div>
  );
}, isSame);

/** Rows stay the same objects when more is read; what holds them is made anew. */
function isSame(one: Sectioned, other: Sectioned): boolean {
  const isAlike = one.isShown === other.isShown && one.isSplit === other.isSplit && one.task === other.task && one.missing === other.missing;
  if (!isAlike || one.said !== other.said || one.writing !== other.writing || one.rows.length !== other.rows.length) return false;
  return one.rows === other.rows || one.rows.every(([left, right], at) => left === other.rows[at]?.[0] && right === other.rows[at]?.[1]);
}

const SIGNS = { plus: "+", minus: "−", same: " ", hunk: "" } as const;

function Line({ row, side, missing }: { row: Row | null; side: "old" | "new" | "both"; missing: Set<number> }): ReactNode {
  if (!row) return <div className="line empty" />;
  const number = side === "old" ? row.old : (row.new ?? row.old);
  const isMissed = row.kind === "plus" && row.new !== undefined && missing.has(row.new);
  return (
    <div className={`line ${row.kind}`} data-number={number ?? ""} data-sign={SIGNS[row.kind]} data-missed={isMissed ? t("no.test.runs") : undefined}>
      <Plain text={row.text} />
      {row.isCut && <span className="cut">{t("no.newline")}</span>}
    </div>
  );
}
