/* The folders of tasks, in their order. */

import type { TaskAnswer } from "./types";

export type TaskState = TaskAnswer["state"];
export const STATES: readonly TaskState[] = ["backlog", "in_progress", "in_review", "completed", "failed"];
