/* What the board answers. Made of docs/openapi.json, and never by hand; anew:
   python -m bench.page_types > web/pages/src/api/types.ts */

export interface AgentAnswer {
  role: string;
  model: string;
  runs: RunAnswer[];
  last: EndedRunAnswer;
}

export interface AskedAnswer {
  goal: string;
  text: string;
}

export interface AskedInVisionAnswer {
  goal: string;
  text: string;
  evidence: string;
}

export interface AttemptAnswer {
  number: number | null;
  key: number;
  outcome: "ok" | "failed" | "lost" | "void" | "sent back" | "stale" | "open";
  note: string;
  asked: string;
  refused: string[];
}

export interface AuditAnswer {
  rows: AuditRowAnswer[];
  next: string | null;
}

export interface AuditRowAnswer {
  seq: number;
  at: string;
  kind: string;
  actor: string;
  via: string;
  subject: string;
  commit_id: string;
  detail: Record<string, unknown>;
  hash: string;
}

export interface AuthenticatorWishes {
  residentKey: "required";
  requireResidentKey: boolean;
  userVerification: "required";
}

export interface BeforeAndNow {
  mended: FewTests;
  still: FewTests;
  left: FewTests;
  broken: FewTests;
}

export interface BoardSession {
  id: string;
  kind: "session" | "key";
  role: Role;
  name: string;
  by: string;
  made: string;
  seen: string;
  until: string;
  passkey: string;
  pushes: number;
}

export interface CallAnswer {
  request: unknown;
  answer: unknown;
  left_out: number;
  number: number;
  at: string;
  day: string;
  agent: string;
  attempt: number;
  model: string;
  retry: number;
  state: string;
  code: string;
  note: string;
  stop_reason: string;
  tokens_in: number;
  tokens_out: number;
  amount: string;
  ms: number | null;
  trouble: string;
}

export interface CappedAnswer {
  spent: string;
  reserved: string;
  lost: string;
  cap: string;
}

export interface ChallengeAnswer {
  ticket: string;
  options: SigningOptions;
}

export interface ChangedSettingsAnswer {
  digest: string;
  is_whole: boolean;
  problem: string;
  text: string;
  file: string;
  values: Record<string, unknown>;
}

export interface DaemonAnswer {
  state: "never" | "running" | "stopped" | "dead";
  pid: number | null;
  since: string;
  ended: string;
  how: string;
  next: string;
  waits_for: WaitAnswer[];
}

export interface DayPlanAnswer {
  tasks: PlannedTaskAnswer[];
  deferred: Goal[];
  held: Goal[];
  finished: Goal[];
  questions: Question[];
  forecast: string;
  notes: string[];
}

export interface DeployAnswer {
  number: number;
  place: "staging" | "production";
  commit: string;
  subject: string;
  task: string;
  stage: DeployStage;
  why: string;
  back_to: string;
  asked: boolean;
  reverted_by: number | null;
  begun: string;
  started: string;
  ended: string;
  backup: string;
}

export interface DeployOrderAnswer {
  place: "staging" | "production";
  commit: string;
}

export type DeployStage = "planned" | "built" | "saved" | "started" | "healthy" | "sick" | "returning" | "rolled back" | "failed" | "stuck" | "overruled";

export interface DeploysAnswer {
  driver: string;
  places: PlaceAnswer[];
  paused: PausedAnswer | null;
  held: HeldAnswer[];
  orders: DeployOrderAnswer[];
  deploys: DeployAnswer[];
}

export interface DiffAnswer {
  commit: string;
  base: string;
  begin: number;
  lines: string[];
  next: number | null;
}

export interface DoneAnswer {
  told: string;
  next: string;
}

export interface EndedRunAnswer {
  task: string;
  ended: string;
  result: string;
}

export interface EvidenceAnswer {
  commit: string;
  tree: string;
  base: string;
  command: string;
  box: string;
  passed: number;
  failed: number;
  skipped: number;
  failing_before: number;
  new_tests: string[];
  proving: string[];
  failures: Failure[];
  still: Failure[];
  flaky: string[];
  astray: string[];
  problems: Problem[];
  covered: number | null;
  covered_before: number | null;
  uncovered: Record<string, number[]>;
  seconds: number;
  digest: string;
  output: string;
  tools: ToolRun[];
  together: string[];
  asked: string;
  uncounted: string;
  elsewhere: string;
  reach: string[];
  independent: string;
  unheld: string[];
  faults: string;
  calls: string[];
  not_run: string[];
  compared: BeforeAndNow;
  standing: "passed" | "failed" | "not run";
  summary: string;
  shown_by: string[];
  not_seen: string[];
}

export interface Failure {
  test: string;
  where: string;
  text: string;
}

export interface FewTests {
  names: string[];
  count: number;
}

export interface FileAnswer {
  digest: string;
  is_whole: boolean;
  problem: string;
  text: string;
}

export interface Finding {
  path: string;
  line: number;
  severity: Severity;
  source: string;
  rule: string;
  text: string;
  quote: string;
  rest: string;
}

export interface Goal {
  id: string;
  title: string;
  details: string[];
  priority: Priority;
  line: number;
  proposed_by: string;
}

export interface HealthAnswer {
  ok: boolean;
}

export interface HeldAnswer {
  text: string;
  command: string;
}

export interface KeyKind {
  type: "public-key";
  alg: number;
}

export interface KnownCredential {
  id: string;
  type: "public-key";
}

export interface LeaveAnswer {
  address: string;
}

export interface Lesson {
  number: number;
  agent: "planner" | "coder" | "qa" | "reviewer" | "target";
  text: string;
  signature: string;
  keywords: string[];
  files: string[];
  origin: string;
  learned: string;
  expires: string;
  used: number;
  passed: number;
  theirs: boolean;
}

export interface LostCallAnswer {
  number: number;
  at: string;
  day: string;
  agent: string;
  task: string;
  model: string;
  amount: string;
  estimate: string | null;
  written_off: string;
}

export interface MachineAnswer {
  queues: Record<string, number>;
  boxes_today: ResourceUse;
  at: string;
  most: number;
  memory: number;
  disk: number;
  inodes: number;
  load: number;
  processors: number;
  cpu: number | null;
  boxes: number;
}

export interface MakingOptions {
  rp: PasskeySite;
  user: PasskeyUser;
  challenge: string;
  pubKeyCredParams: KeyKind[];
  timeout: number;
  excludeCredentials: KnownCredential[];
  authenticatorSelection: AuthenticatorWishes;
  attestation: "none";
}

export interface MetricAnswer {
  name: string;
  unit: string;
  labels: Record<string, string>;
  days: Partial<Record<"7" | "30" | "all", number | null>>;
  says: string;
}

export interface MoneyDayAnswer {
  spent: string;
  reserved: string;
  lost: string;
  cap: string;
  day: string;
  by_agent: Record<string, ShareAnswer>;
  by_task: Record<string, ShareAnswer>;
  by_model: Record<string, ShareAnswer>;
  lost_calls: LostCallAnswer[];
  savings: Partial<Record<"caching" | "routing", string>>;
}

export interface NamedGoalAnswer {
  id: string;
  text: string;
  line: number;
}

export interface NewPasskeyAnswer {
  id: string;
}

export interface NewTaskAnswer {
  id: string;
  state: "backlog";
}

export interface NoEvidenceAnswer {
  standing: "not run";
}

export interface NoMachineAnswer {
  queues: Record<string, number>;
  boxes_today: ResourceUse;
}

export interface NoVerdictAnswer {
  standing: "none";
  findings: Finding[];
}

export interface NoteGuardAnswer {
  note: string;
  patterns: string[];
}

export interface NothingAnswer {
}

export interface OfferAnswer {
  ticket: string;
  options: MakingOptions;
}

export interface OutletStanding {
  name: string;
  taken: number;
  behind: number;
  since: string;
  why: string;
}

export interface PaceAnswer {
  tasks_per_day: number;
  cost_per_task: string;
  minutes_per_task: number;
  merged: number;
}

export interface Passkey {
  id: string;
  site: string;
  role: string;
  name: string;
  made: string;
  used: string;
}

export interface PasskeySite {
  name: string;
  id: string;
}

export interface PasskeyUser {
  id: string;
  name: string;
  displayName: string;
}

export interface PasskeysAnswer {
  passkeys: Passkey[];
  is_here: boolean;
  at: string;
}

export interface PausedAnswer {
  since: string;
  why: string;
  command: string;
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

export interface PlaceAnswer {
  place: "staging" | "production";
  commit: string;
  subject: string;
  task: string;
  since: string;
  stuck: string;
  unwatched: string;
  under_way: DeployAnswer | null;
  runs: RunsAnswer;
}

export interface PlacedGoalAnswer {
  id: string;
  title: string;
  priority: Priority;
  yours: boolean;
  done: string | null;
  merged: number;
  open: number;
  to_come: number | null;
  cost: string;
  note: string;
  week: string | null;
}

export interface PlanReviewAnswer {
  mark: string;
  days: WaitingDayAnswer[];
  until: string;
}

export interface PlannedTaskAnswer {
  id: string;
  title: string;
  goal: string;
  priority: Priority;
  why: string;
}

export type Priority = "critical" | "high" | "medium" | "low";

export interface Problem {
  rule: string;
  text: string;
  remedy: "correct" | "write tests" | "ask owner";
  tests: string[];
}

export interface PullAnswer {
  number: number;
  title: string;
  branch: string;
  base: string;
  head: string;
  state: "open" | "merged" | "closed";
  url: string;
  task: string;
}

export interface PullsAnswer {
  pulls: PullAnswer[];
  problem: string;
}

export interface PushAnswer {
  id: string;
  service: string;
  language: string;
  made: string;
  told: string;
  why: string;
  session: string;
  mine: boolean;
}

export interface PushTestAnswer {
  taken: boolean;
  says: string;
}

export interface PushesAnswer {
  key: string;
  pushes: PushAnswer[];
}

export interface Question {
  goal_id: string;
  text: string;
  evidence: string;
}

export interface ReadyAnswer {
  ready: boolean;
  daemon: "never" | "running" | "stopped" | "dead";
}

export interface Remark {
  text: string;
  line: number;
}

export interface ResearchAnswer {
  id: string;
  question: string;
  asked: string;
  answered: string;
  tries: number;
  problem: string;
  recommendation: string;
  claims: number;
  cost: string;
  tokens: number;
  note: string;
}

export interface ResearchNoteAnswer {
  id: string;
  question: string;
  asked: string;
  answered: string;
  tries: number;
  problem: string;
  recommendation: string;
  claims: number;
  cost: string;
  tokens: number;
  note: string;
  text: string;
}

export interface ResourceUse {
  cpu: number;
  memory: number;
  written: number;
}

export interface ReviewAnswer {
  id: string;
  goal_words: string;
  said: string[];
  state: "backlog" | "in_progress" | "in_review" | "completed" | "failed";
  commit: string;
  base: string;
  waits: boolean;
  since: string;
  reasons: string[];
  change: string;
  told: string[];
  evidence: EvidenceAnswer | NoEvidenceAnswer;
  verdict: VerdictAnswer | NoVerdictAnswer;
}

export interface RoadmapAnswer {
  pace: PaceAnswer;
  ends: string | null;
  weeks: WeekAnswer[];
  later: RoadmapGoalAnswer[];
  own: string[];
  problem: string;
}

export interface RoadmapFileAnswer {
  digest: string;
  is_whole: boolean;
  problem: string;
  text: string;
  lines: number;
}

export interface RoadmapGoalAnswer {
  id: string;
  title: string;
  priority: Priority;
  yours: boolean;
  done: string | null;
  merged: number;
  open: number;
  to_come: number | null;
  cost: string;
  note: string;
}

export type Role = "owner" | "reviewer" | "viewer" | "read" | "answer";

export interface RunAnswer {
  agent: string;
  task: string;
  title: string;
  since: string;
  seconds: number;
  alive: boolean;
  command: string;
}

export interface RunsAnswer {
  commit: string;
  ended: string;
  problem: string;
  is_other: boolean;
  command: string;
}

export interface SecretAnswer {
  name: string;
  is_set: boolean;
}

export interface SettingAnswer {
  key: string;
  meaning: string;
  default: string;
  form: SettingForm | null;
  grave: boolean;
}

export interface SettingForm {
  type: "boolean" | "integer" | "number" | "string";
  enum?: string[];
  examples?: string[];
  format?: "dollars";
  pattern?: string;
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
  optional?: boolean;
}

export interface SettingsAnswer {
  target: string;
  files: SettingsFileAnswer[];
  secrets: SecretAnswer[];
  errors: string[];
}

export interface SettingsFileAnswer {
  file: string;
  digest: string;
  fields: SettingAnswer[];
  values: Record<string, unknown> | null;
}

export type Severity = "low" | "medium" | "high";

export interface ShareAnswer {
  spent: string;
  reserved: string;
  lost: string;
  calls: number;
}

export type SignInName = "google" | "github";

export interface SigningOptions {
  challenge: string;
  timeout: number;
  rpId: string;
  allowCredentials: KnownCredential[];
  userVerification: "required";
}

export interface SpentAnswer {
  spent: string;
  reserved: string;
  lost: string;
}

export type State = "backlog" | "in_progress" | "in_review" | "completed" | "failed" | "gone";

export interface StatusAnswer {
  answers: PendingAnswer[];
  asked: AskedAnswer[];
  stuck: StuckTaskAnswer[];
  unreadable: string[];
  home: string;
  daemon: DaemonAnswer;
  pid: string | null;
  since: string;
  machine: MachineAnswer | NoMachineAnswer;
  outlets: OutletStanding[];
  problems: string[];
  target: string;
  runs: RunAnswer[];
  deploys: string[];
  deploys_as: string;
  hooks: string[];
  day: string;
  tasks: Partial<Record<"backlog" | "in_progress" | "in_review" | "completed" | "failed", number>>;
  today: CappedAnswer;
  month: CappedAnswer;
  stopped: string[];
  waits_for_you: string[];
  failed: string[];
  in_progress: string[];
  at_the_gates: string[];
  approved: string[];
  ready: string[];
  waiting: string[];
  set_aside: string[];
  questions: string[];
  guards: string[];
  more: Record<string, number>;
}

export interface StuckAnswer {
  on: string;
  why: string;
  since: string;
  behind: string[];
  commands: string[];
}

export interface StuckTaskAnswer {
  on: string;
  why: string;
  since: string;
  behind: string[];
  commands: string[];
  task: string;
  title: string;
}

export interface SystemAnswer {
  home: string;
  daemon: DaemonAnswer;
  pid: string | null;
  since: string;
  machine: MachineAnswer | NoMachineAnswer;
  outlets: OutletStanding[];
  problems: string[];
  version: string;
}

export interface TalkAnswer {
  calls: CallAnswer[];
  next: string | null;
}

export interface TaskAnswer {
  id: string;
  state: "backlog" | "in_progress" | "in_review" | "completed" | "failed";
  title: string;
  text: string;
  history: TaskEventAnswer[];
  unblocked: UnblockedAnswer[];
  words: string[];
  branch: string;
  attempts: AttemptAnswer[];
  asked: string;
  cost: SpentAnswer | NothingAnswer;
  pulls: PullAnswer[];
  gates: string[];
}

export interface TaskEventAnswer {
  at: string;
  event: string;
  state: State;
  note: string;
}

export interface TaskFileAnswer {
  digest: string;
  is_whole: boolean;
  problem: string;
  text: string;
  id: string;
  state: "backlog" | "in_progress" | "in_review" | "completed" | "failed";
}

export interface TaskPageAnswer {
  tasks: TaskRowAnswer[];
  next: string | null;
}

export interface TaskRowAnswer {
  id: string;
  state: "backlog" | "in_progress" | "in_review" | "completed" | "failed";
  title: string;
  priority: Priority | "";
  goal: string;
  branch: string;
  attempts: number;
  note: string;
  stuck: StuckAnswer | null;
}

export interface TodaysPlanAnswer {
  day: string;
  plan: DayPlanAnswer | null;
  page: string;
}

export interface TokenAnswer {
  token: string;
}

export interface ToolRun {
  name: string;
  end: string;
  new: string[];
}

export interface TraceAnswer {
  kind: "goal" | "planning" | "task" | "attempt" | "calls" | "commit" | "pull request" | "tests" | "review" | "ruling" | "merge" | "deploy" | "revert" | "closing" | "notice";
  name: string;
  text: string;
  at: string;
  outcome: string;
  cost: TraceCostAnswer;
  parts: TraceAnswer[];
  is_asked: boolean;
}

export interface TraceCostAnswer {
  calls: number;
  tokens_in: number;
  tokens_out: number;
  amount: string;
}

export interface UnblockedAnswer {
  at: string;
  from: string;
  why: string;
}

export interface VerdictAnswer {
  standing: "approved" | "changes requested" | "escalated" | "of another commit";
  findings: Finding[];
  kind: "approved" | "changes requested" | "escalated";
  commit: string;
  summary: string;
  word: string;
}

export interface VisionAnswer {
  goals: WishedGoalAnswer[];
  done: string[];
  removed: NamedGoalAnswer[];
  planned_next: string[];
  ideas: Remark[];
  notes: Remark[];
  prose: Remark[];
  guards: NoteGuardAnswer[];
  lost_guards: string[];
  wishes: Remark[];
  questions: AskedInVisionAnswer[];
  model_asked: (NamedGoalAnswer | Remark)[];
  warnings: Remark[];
  files_known: boolean;
  digest: string;
  is_whole: boolean;
  problem: string;
  text: string;
}

export interface VisionPreviewAnswer {
  goals: WishedGoalAnswer[];
  done: string[];
  removed: NamedGoalAnswer[];
  planned_next: string[];
  ideas: Remark[];
  notes: Remark[];
  prose: Remark[];
  guards: NoteGuardAnswer[];
  lost_guards: string[];
  wishes: Remark[];
  questions: AskedInVisionAnswer[];
  model_asked: (NamedGoalAnswer | Remark)[];
  warnings: Remark[];
  files_known: boolean;
}

export interface WaitAnswer {
  what: string;
  since: string;
  until: string;
  why: string;
}

export interface WaitingAnswer {
  answers: PendingAnswer[];
  asked: AskedAnswer[];
  stuck: StuckTaskAnswer[];
  unreadable: string[];
}

export interface WaitingDayAnswer {
  day: string;
  forecast: string | null;
  planned: number;
  tasks: WaitingTaskAnswer[];
}

export interface WaitingTaskAnswer {
  id: string;
  title: string;
  text: string;
  goal: string;
  goal_words: string;
  said: string[];
  priority: Priority | "";
  files: string[];
  after: string[];
  why: string;
}

export interface WaysAnswer {
  ways: SignInName[];
}

export interface WeekAnswer {
  monday: string;
  load: number;
  room: number;
  goals: RoadmapGoalAnswer[];
}

export interface WishedGoalAnswer {
  id: string;
  title: string;
  details: string[];
  priority: Priority;
  line: number;
  proposed_by: string;
  change: "new" | "changed" | "";
}
