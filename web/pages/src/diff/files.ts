/* Lines of a patch -> files with rows, each row with its numbers. Pure. */

export interface Row {
  kind: "hunk" | "same" | "plus" | "minus";
  old?: number;
  new?: number;
  text: string;
  isCut?: boolean; // the file's last line, without a line end
}

export interface ChangedFile {
  path: string;
  notes: string[]; // new, deleted, renamed from, mode, binary
  rows: Row[];
  plus: number;
  minus: number;
  folded: "" | "lock" | "generated" | "long";
}

const LONG = 500; // rows
const LOCKS = /(^|\/)(package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lock|poetry\.lock|uv\.lock|Pipfile\.lock|pdm\.lock|Cargo\.lock|go\.sum|composer\.lock|Gemfile\.lock|requirements[\w.-]*\.txt)$/;
const GENERATED = /(^|\/)(dist|build|vendor|node_modules|__snapshots__|generated)\/|\.(min\.(js|css)|map|snap|pb\.go)$|_pb2(_grpc)?\.pyi?$/;

/** What was read so far, and where in it the next line stands. */
export interface Parsed {
  files: ChangedFile[];
  old: number;
  fresh: number;
  inside: boolean; // of a hunk
}

export const NOTHING: Parsed = { files: [], old: 0, fresh: 0, inside: false };

/** Read on: rows and files that were there stay the same objects, but the file that goes on. */
export function readOn(before: Parsed, lines: readonly string[]): Parsed {
  const last = before.files.at(-1);
  const files = last ? [...before.files.slice(0, -1), { ...last, notes: [...last.notes], rows: [...last.rows] }] : [];
  let now: ChangedFile | null = files.at(-1) ?? null;
  const from = Math.max(0, files.length - 1);
  let { old, fresh, inside } = before;
  for (const line of lines) {
    if (line.startsWith("diff --git ")) {
      now = { path: pathOf(line), notes: [], rows: [], plus: 0, minus: 0, folded: "" };
      files.push(now);
      inside = false;
      continue;
    }
    if (!now) continue;
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)/.exec(line);
    if (hunk) {
      old = Number(hunk[1]);
      fresh = Number(hunk[2]);
      inside = true;
      now.rows.push({ kind: "hunk", text: line });
    } else if (!inside) {
      const told = noteOf(line);
      if (told) now.notes.push(told);
    } else if (line.startsWith("+")) {
      now.rows.push({ kind: "plus", new: fresh++, text: line.slice(1) });
      now.plus += 1;
    } else if (line.startsWith("-")) {
      now.rows.push({ kind: "minus", old: old++, text: line.slice(1) });
      now.minus += 1;
    } else if (line.startsWith("\\")) {
      const cut = now.rows.pop();
      if (cut) now.rows.push({ ...cut, isCut: true });
    } else if (line.startsWith(" ")) {
      now.rows.push({ kind: "same", old: old++, new: fresh++, text: line.slice(1) });
    }
  }
  for (const one of files.slice(from)) one.folded = foldOf(one);
  return { files, old, fresh, inside };
}

function foldOf(file: ChangedFile): ChangedFile["folded"] {
  if (LOCKS.test(file.path)) return "lock";
  if (GENERATED.test(file.path)) return "generated";
  return file.rows.length > LONG ? "long" : "";
}

function pathOf(line: string): string {
  const found = /^diff --git (?:a\/.* b\/(.*)|"a\/.*" "b\/(.*)")$/.exec(line);
  return found?.[1] ?? found?.[2] ?? line.slice("diff --git ".length);
}

/** What stands above the hunks and matters: not the names again, not the digests. */
function noteOf(line: string): string {
  return /^(new file|deleted file|old mode|new mode|rename|copy|similarity|Binary|GIT binary)/.test(line) ? line : "";
}

/** Rows side by side: what went beside what came. */
export function pairs(rows: readonly Row[]): [Row | null, Row | null][] {
  const found: [Row | null, Row | null][] = [];
  let gone: Row[] = [];
  let came: Row[] = [];
  const settle = (): void => {
    for (let at = 0; at < Math.max(gone.length, came.length); at++) found.push([gone[at] ?? null, came[at] ?? null]);
    gone = [];
    came = [];
  };
  for (const row of rows) {
    if (row.kind === "minus") gone.push(row);
    else if (row.kind === "plus") came.push(row);
    else {
      settle();
      found.push([row, row.kind === "same" ? row : null]);
    }
  }
  settle();
  return found;
}
