/** What can be done with many jobs or executions at once, and the request that does it. */

import type { components } from "../../api/schema";

export type Kind = "jobs" | "executions";
export type BulkAction = components["schemas"]["BulkAction"];
export type Operation = components["schemas"]["Operation"];
export type Selected = components["schemas"]["Selection"];

export interface Choice {
  action: BulkAction;
  /** On the button; the dialog adds the count. */
  verb: string;
  /** While the operation runs, and when it has ended. */
  doing: string;
  done: string;
  consequence: string;
  isDanger?: boolean;
}

const JOBS: Choice[] = [
  {
    action: "run",
    verb: "Run",
    doing: "Running",
    done: "run",
    consequence: "Each job gets one more execution, in addition to its schedule. Its overlap rule applies.",
  },
  {
    action: "pause",
    verb: "Pause",
    doing: "Pausing",
    done: "paused",
    consequence: "Executions that have not started are skipped. Running ones continue. It can be undone exactly.",
  },
  {
    action: "resume",
    verb: "Resume",
    doing: "Resuming",
    done: "resumed",
    consequence: "Instants that came due in the pause follow the misfire rule of their job.",
  },
  {
    action: "priority",
    verb: "Change priority of",
    doing: "Changing the priority",
    done: "changed",
    consequence: "Executions that have not been queued yet go to the new queue.",
  },
  {
    action: "cancel",
    verb: "Cancel",
    doing: "Cancelling",
    done: "cancelled",
    consequence: "The jobs create no more executions; running ones are asked to stop. This cannot be undone.",
    isDanger: true,
  },
];

const EXECUTIONS: Choice[] = [
  {
    action: "retry",
    verb: "Retry",
    doing: "Retrying",
    done: "retried",
    consequence: "Each gets another execution of the same due instant, under the current rules of its job.",
  },
  {
    action: "cancel",
    verb: "Cancel",
    doing: "Cancelling",
    done: "cancelled",
    consequence: "Running tasks are asked to stop, and have 30 seconds. This cannot be undone.",
    isDanger: true,
  },
];

export const CHOICES: Record<Kind, Choice[]> = { jobs: JOBS, executions: EXECUTIONS };

export function choiceOf(kind: Kind, action: string): Choice | undefined {
  return CHOICES[kind].find((one) => one.action === action);
}

/** The fields that are lists in a bulk filter, and comma-separated in the address. */
const LISTS = new Set(["state", "priority", "status", "origin", "deadline"]);

/** The filter of a list, from its address to the body of a bulk request. */
export function bulkFilter(query: URLSearchParams, names: readonly string[]): Record<string, unknown> {
  const filter: Record<string, unknown> = {};
  for (const name of names) {
    const values = query.getAll(name).filter(Boolean);
    if (values.length === 0) continue;
    if (name === "tag") filter.tag = values;
    else if (LISTS.has(name)) filter[name] = values.flatMap((one) => one.split(","));
    else filter[name] = values[0];
  }
  return filter;
}
