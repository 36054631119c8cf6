/** The buttons of remedies: each opens a view, or asks with a dry run. */

import type { Remedy } from "../../api/types";
import { withQuery } from "../../router";

export interface Step {
  text: string;
  to: string;
  /** Whether the step changes something: it is offered only to users who may. */
  isChange: boolean;
}

/** What the dialog of the remedies asks, in the address as `do=yield.{execution}` or `do=low.{job}`. */
export const ACTIONS = ["yield", "retry", "low", "high", "pause", "resume"] as const;
export type Action = (typeof ACTIONS)[number];

export function asks(text: string, action: Action, id: string): Step {
  return { text, to: withQuery({ do: `${action}.${id}` }), isChange: true };
}

export function opens(text: string, to: string): Step {
  return { text, to, isChange: false };
}

/** The steps of a deadline outlook, the most promising first. Waiting and what only AWS shows need no button. */
export function stepsOf(remedies: Remedy[], jobId: string): Step[] {
  const steps = remedies.flatMap((one) => stepOf(one, jobId) ?? []);
  return steps.filter((one, position) => steps.findIndex((other) => other.text === one.text) === position);
}

/** With the way to the execution, unless its log is a step. */
export function stepsOfDeadline(executionId: string, remedies: Remedy[]): Step[] {
  const steps = stepsOf(remedies, jobOf(executionId));
  const address = `/executions/${executionId}`;
  return steps.some((one) => one.to === address) ? steps : [...steps, opens("Open", address)];
}

function stepOf({ action, target }: Remedy, jobId: string): Step | null {
  switch (action) {
    case "cancel_execution":
      return asks("Make room…", "yield", target);
    case "retry_execution":
      return asks("Retry…", "retry", target);
    case "edit_job":
      return target === "priority"
        ? asks("Set to high…", "high", jobId)
        : { text: "Edit job", to: `/jobs/${jobId}/edit`, isChange: true };
    case "inspect_job":
      return opens("Open upstream job", `/jobs/${target}`);
    case "inspect_execution":
      return opens("Open log", `/executions/${target}`);
    case "raise_setting":
      return target.startsWith("long.") ? opens("Open long lane", "/lane") : opens("Open queues", "/queues");
    default:
      return null;
  }
}

/** `01m7…` of `20261115T070000000Z-01m7…-2`. */
export function jobOf(executionId: string): string {
  return executionId.split("-")[1] ?? "";
}

/** What the address asks for, if it is one of the actions. */
export function actionIn(query: URLSearchParams): { action: Action; id: string } | null {
  const [action, ...rest] = (query.get("do") ?? "").split(".");
  const id = rest.join(".");
  const known = ACTIONS.find((one) => one === action);
  return known && id ? { action: known, id } : null;
}
