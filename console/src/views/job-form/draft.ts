/** What the form is about to submit: the submission itself, so that the form, the JSON and the `curl` cannot differ. */

import type { Job } from "../../api/types";

export type Draft = Record<string, unknown>;
export type ScheduleKind = "now" | "at" | "cron" | "every" | "queue";

export const EMPTY: Draft = { task: "" };

/** Fields that have an input of their own. The others are edited as JSON. */
export const OWN_FIELDS = [
  "name",
  "task",
  "parameters",
  "schedule",
  "deadline",
  "lane",
  "priority",
  "timeout_seconds",
  "overlap",
];
/** Fields of a job that the API assigns, or that belong to that job only. */
const NOT_SUBMITTED = [
  ...[
    "job_id",
    "created_by",
    "state",
    "revision",
    "created_at",
    "updated_at",
    "paused_at",
    "next_due_at",
    "execution_id",
  ],
  ...["last_execution", "statistics", "next", "graph", "recent", "running", "revised_by"],
];
const DEFAULTS: Draft = { lane: "short", priority: "normal", preemptible: false, window: null };

/** The submission that would create this job again. */
export function draftOf(job: Job): Draft {
  const entries = Object.entries(job).filter(
    ([name, value]) => !NOT_SUBMITTED.includes(name) && value !== null && DEFAULTS[name] !== value && !isEmpty(value),
  );
  return Object.fromEntries(entries);
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

/** The draft with another value of a field. Empty values leave the field out. */
export function withField(draft: Draft, field: string, value: unknown): Draft {
  const { [field]: _, ...rest } = draft;
  return value === "" || value === null || value === undefined ? rest : { ...rest, [field]: value };
}

export function kindOf(draft: Draft): ScheduleKind {
  const schedule = draft.schedule as Record<string, unknown> | undefined;
  if (!schedule) return "now";
  if ("cron" in schedule) return "cron";
  if ("every_seconds" in schedule) return "every";
  return "queue" in schedule ? "queue" : "at";
}

/** The fields that differ, with null for those that are gone: the body of a PATCH. */
export function changedFields(before: Draft, after: Draft): Draft {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const changed = [...names].filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return Object.fromEntries(changed.map((name) => [name, after[name] ?? null]));
}

/** The same request for a terminal. */
export function curlOf(method: string, url: string, body: unknown): string {
  const text = JSON.stringify(body, null, 2).replaceAll("'", "'\\''");
  return `curl -X ${method} '${url}' \\\n  -H "Authorization: Bearer $TOKEN" \\\n  -H 'Content-Type: application/json' \\\n  -d '${text}'`;
}
