/** The buttons of the items that need attention. */

import type { AttentionItem } from "../../api/types";
import { asks, opens, type Step, stepsOfDeadline } from "../../components/remedies/steps";

export function stepsOfItem({ kind, subject, deadline, remedy }: AttentionItem): Step[] {
  const { id } = subject;
  if (kind === "deadline") return stepsOfDeadline(id, deadline?.remedies ?? []);
  if (kind === "queue") return stepsOfQueue(id);
  if (kind === "backlog") {
    const isPaused = remedy?.startsWith("resume") ?? false;
    const change = isPaused
      ? [asks("Resume…", "resume", id)]
      : [asks("Set to low…", "low", id), asks("Pause…", "pause", id)];
    return [...change, opens("Open", `/jobs/${id}`)];
  }
  if (kind === "module") return [opens("Open tasks", "/tasks")];
  const view = VIEWS_OF_ALARMS.find(([name]) => id.includes(name));
  return view ? [opens("Open", view[1])] : [];
}

function stepsOfQueue(queue: string): Step[] {
  const address = `/queues?queue=${encodeURIComponent(queue)}`;
  const fills = opens("Who fills it", address);
  if (queue === "low") return [fills];
  return [{ text: "Set to low…", to: `${address}&do=low`, isChange: true }, fills];
}

const LATE = "/executions?status=scheduled,queued,waiting";
const FAILED = "/executions?status=failed,timed_out";

/** Where the console shows what an alarm is about. Of the others, CloudWatch and the runbook say more. */
const VIEWS_OF_ALARMS: [string, string][] = [
  ["DeadlineAtRisk", "/deadlines?state=at_risk,will_miss"],
  ["DeadlineMissed", "/deadlines?state=missed"],
  ["Backlog", "/queues"],
  ["OldestMessage", "/queues"],
  ["DispatchLate", LATE],
  ["TickMissed", LATE],
  ["SweepBehind", LATE],
  ["StreamBehind", LATE],
  ["WorkerFailures", FAILED],
  ["StateMachineFailures", FAILED],
  ["BrokenTaskModules", "/tasks"],
];
