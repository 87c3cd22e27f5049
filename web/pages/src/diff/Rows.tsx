/* The rows of one file, in sections that cost nothing while nobody sees them; and the words about them. */

import { Fragment, memo, type MouseEvent, type ReactNode, useEffect, useMemo, useState } from "react";
import { Plain } from "../parts/Plain";
import { t } from "../words/words";
import { Said, Writing } from "./Comment";
import { type Comment, isOf, quote, type Side, useComments } from "./comments";
import { pairs, type Row } from "./files";
import { isGutter, pressedIn } from "./lines";

const SECTION = 50; // rows
const AT_ONCE = 6; // sections that one frame adds
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

export function Rows({ path, rows, missed, isSplit, wraps, task, commit }: Rowed): ReactNode {
  const missing = useMemo(() => new Set(missed), [missed]);
  const whole = useMemo(() => (isSplit ? cut(pairs(rows)) : cut(rows.map((one): [Row, null] => [one, null]))), [rows, isSplit]);
  const shown = useGrowing(whole.length, AT_ONCE);
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
    <div className={`rows ${isSplit ? "split" : "unified"} ${wraps ? "wraps" : ""}`} tabIndex={wraps && !task ? undefined : 0} role="region" aria-label={t("change.of", { path })} onClick={task ? press : undefined} onKeyDown={task ? pressedIn : undefined}>
      {whole.slice(0, shown).map((some, at) => (
        <Section key={at} rows={some} missing={missing} isSplit={isSplit} task={task} said={among(said, some)} writing={writing && among([writing], some).length ? writing : null} write={setWriting} />
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

/** Those that are about one of these rows. */
function among(said: Comment[], rows: Pair[]): Comment[] {
  const found = said.filter((one) => rows.some((pair) => isAt(one, pair)));
  return found.length ? found : NONE;
}

/** A few more with each frame, so that none takes long. */
export function useGrowing(whole: number, step: number): number {
  const [shown, setShown] = useState(step);
  useEffect(() => {
    if (shown >= whole) return;
    const next = requestAnimationFrame(() => setShown(shown + step));
    return () => cancelAnimationFrame(next);
  }, [shown, whole, step]);
  return shown;
}

interface Sectioned {
  rows: Pair[];
  missing: Set<number>;
  isSplit: boolean;
  task: string;
  said: Comment[];
  writing: Comment | null;
  write: (one: Comment | null) => void;
}

const Section = memo(function Section({ rows, missing, isSplit, task, said, writing, write }: Sectioned): ReactNode {
  const below = (pair: Pair): ReactNode => {
    if (writing && isAt(writing, pair)) return <Writing key={`${writing.side} ${writing.line}`} task={task} at={writing} end={() => write(null)} />;
    return said.filter((one) => isAt(one, pair)).map((one) => <Said key={`${one.side} ${one.line}`} task={task} one={one} change={() => write(one)} />);
  };
  return (
    <div className="section" style={{ containIntrinsicHeight: `auto ${rows.length * ROW}rem` }}>
      {rows.map((pair, at) => (
        <Fragment key={at}>
          {isSplit && pair[0]?.kind !== "hunk" && pair[0]?.kind !== "note" ? (
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
