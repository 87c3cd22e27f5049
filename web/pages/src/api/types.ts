/* What the board answers, as far as pages read it. Amounts are dollars with nine decimals, as text. */

export type TaskState = "backlog" | "in_progress" | "in_review" | "completed" | "failed";
export const STATES: readonly TaskState[] = ["backlog", "in_progress", "in_review", "completed", "failed"];

export interface Amounts {
  cap: string;
  spent: string;
  reserved: string;
  lost: string;
}

export interface PendingAnswer {
  task: string;
  text: string;
  command: string;
  others: string[];
  kind: "change" | "failed" | "stuck" | "";
  title: string;
  reasons: string[];
}

export interface Asked {
  goal: string;
  text: string;
}

export interface Run {
  agent: string;
  task: string;
  title: string;
  since: string;
  seconds: number;
  alive: boolean;
  command: string;
}

export interface Daemon {
  state: "never" | "running" | "stopped" | "dead";
  pid: number | null;
  since: string;
  ended: string;
  how: string;
  next: string;
  waits_for: { what: string; since: string; until: string; why: string }[];
}

export interface Machine {
  processors?: number;
  memory?: number;
  disk?: number;
  inodes?: number;
  load?: number;
  boxes?: number;
  at?: string;
  queues: Record<string, number>;
  boxes_today: Record<string, number>;
}

export interface Status {
  home: string;
  target: string;
  daemon: Daemon;
  machine: Machine;
  pid: string | null;
  since: string;
  day: string;
  runs: Run[];
  tasks: Record<TaskState, number>;
  today: Amounts;
  month: Amounts;
  answers: PendingAnswer[];
  asked: Asked[];
  problems: string[];
  deploys: string[];
  at_the_gates: string[];
  approved: string[];
  in_progress: string[];
  ready: string[];
  waiting: string[];
  set_aside: string[];
  unreadable: string[];
  guards: string[];
  hooks: string[];
  more: Partial<Record<string, number>>; // of which lists there are how many more lines
}

export interface TaskRow {
  id: string;
  state: TaskState;
  title: string;
  priority: string;
  goal: string;
  branch: string;
  attempts: number;
  note: string;
  stuck: { why: string; since: string; commands: string[] } | null;
}

export interface TaskPage {
  tasks: TaskRow[];
  next: string | null;
}

export interface TaskFacts {
  id: string;
  state: TaskState;
  title: string;
  text: string;
  history: { at: string; event: string; state: string; note: string }[];
  unblocked: { at: string; from: string; why: string }[];
  words: string[];
  branch: string;
  attempts: { number: number | null; key: number; outcome: string; note: string; refused: string[] }[];
  cost: { spent?: string; reserved?: string; lost?: string };
  pulls: Pull[];
  gates: string[];
}

export interface Pull {
  number: number;
  title: string;
  state: string;
  url: string;
  task: string;
}

interface FewTests {
  names: string[];
  count: number;
}

export interface Evidence {
  standing: "passed" | "failed" | "not run";
  summary?: string;
  shown_by?: string[];
  not_seen?: string[];
  passed?: number;
  failed?: number;
  skipped?: number;
  new_tests?: string[];
  proving?: string[];
  failures?: { test: string; where: string; text: string }[];
  flaky?: string[];
  problems?: { rule: string; text: string; tests: string[] }[];
  covered?: number | null;
  covered_before?: number | null;
  uncovered?: Record<string, number[]>;
  tools?: { name: string; end: string; new: string[] }[];
  unheld?: string[];
  compared?: Record<"mended" | "still" | "left" | "broken", FewTests>;
}

export interface Verdict {
  standing: string;
  kind?: string;
  commit?: string;
  summary?: string;
  word?: string;
  findings: { path: string; line: number; severity: "low" | "medium" | "high"; source: string; rule: string; text: string; quote: string }[];
}

export interface Review {
  id: string;
  goal_words: string;
  said: string[];
  state: TaskState;
  commit: string;
  base: string;
  waits: boolean;
  since: string;
  reasons: string[];
  change: string;
  told: string[];
  evidence: Evidence;
  verdict: Verdict;
}

export interface DiffPage {
  commit: string;
  base: string;
  begin: number;
  lines: string[];
  next: number | null;
}

export interface Goal {
  id: string;
  title: string;
  priority: string;
  yours: boolean;
  done: string | null;
  merged: number;
  open: number;
  to_come: number | null;
  cost: string;
  note: string;
  week?: string | null;
}

export interface Roadmap {
  pace: { tasks_per_day: number; cost_per_task: string; minutes_per_task: number; merged: number };
  ends: string | null;
  weeks: { monday: string; load: number; room: number; goals: Goal[] }[];
  later: Goal[];
  own: string[];
  problem: string;
}

interface SpentShare {
  calls: number;
  spent: string;
  reserved: string;
  lost: string;
}

export interface MoneyDay extends Amounts {
  day: string;
  by_agent: Record<string, SpentShare>;
  by_task: Record<string, SpentShare>;
  by_model: Record<string, SpentShare>;
  lost_calls: { number: number; at: string; agent: string; task: string; amount: string }[];
  savings: Record<string, string>;
}

export interface Done {
  told: string;
  next: string;
}
