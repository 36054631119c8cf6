/** What the form is about to submit: the submission itself, so that the form, the JSON and the `curl` cannot differ. */

import type { Job, Submission } from "../../api/types";
import { jsonOf } from "../../format/json";

export type Draft = Record<string, unknown>;
export type ScheduleKind = "now" | "at" | "cron" | "every" | "queue";

export const EMPTY: Draft = { task: "" };

/** What a submission may contain. The compiler refuses a list that differs from the API's. */
const SUBMITTED: Record<keyof Submission, true> = {
  backlog: true,
  concurrency: true,
  container: true,
  deadline: true,
  dedupe_key: true,
  depends_on: true,
  expected_seconds: true,
  lane: true,
  misfire: true,
  name: true,
  notify: true,
  on_duplicate: true,
  overlap: true,
  owner: true,
  parameters: true,
  partitions: true,
  preemptible: true,
  priority: true,
  resources: true,
  retry: true,
  schedule: true,
  tags: true,
  task: true,
  timeout_seconds: true,
  window: true,
};
/** Every field of a submission: each has an input. */
export const FIELDS = Object.keys(SUBMITTED);

const DEFAULTS: Draft = { lane: "short", priority: "normal", preemptible: false, window: null };

/** The submission that would create this job again. */
export function draftOf(job: Job): Draft {
  const entries = Object.entries(job).filter(
    ([name, value]) => name in SUBMITTED && value !== null && DEFAULTS[name] !== value && !isEmpty(value),
  );
  return Object.fromEntries(entries.map(([name, value]) => [name, name === "notify" ? withList(value) : value]));
}

/** A rule with one destination as a rule with a list of one. */
function withList(notify: unknown): unknown {
  const { to, ...rest } = notify as { to?: unknown };
  return to === undefined || Array.isArray(to) ? notify : { ...rest, to: [to] };
}

/** Whether the draft says what to run. */
export function isStarted({ task, container }: Draft): boolean {
  return Boolean(task || container);
}

/** The body to submit: a job with a container has no task. */
export function bodyOf(draft: Draft): Draft {
  return withField(draft, "task", draft.task);
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

/** The draft with another value of a field. Empty values leave the field out. */
export function withField(draft: Draft, field: string, value: unknown): Draft {
  const { [field]: _, ...rest } = draft;
  return value === "" || value === null || value === undefined ? rest : { ...draft, [field]: value };
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
  const text = jsonOf(body).replaceAll("'", "'\\''");
  return `curl -X ${method} '${url}' \\\n  -H "Authorization: Bearer $TOKEN" \\\n  -H 'Content-Type: application/json' \\\n  -d '${text}'`;
}
