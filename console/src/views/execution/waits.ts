/** What an execution waits for, in words, and what it has waited for. */

import type { Execution } from "../../api/types";
import { count, plural } from "../../format/duration";
import { withoutIds } from "../../format/ids";
import { dueOf, when } from "../../format/time";

type Waiting = NonNullable<Execution["waiting_for"]>;

/** `Waits for a slot of the long lane, 2 ahead`: without ids and instants, which are shown beside it. */
export function waitingWords(waiting: Waiting): string {
  const ahead = waiting.ahead ? `, ${count(waiting.ahead)} ahead` : "";
  return causeOf(waiting) + ahead;
}

function causeOf({ what, detail, executions }: Waiting): string {
  if (what === "time") return "Not due yet";
  if (what === "rest") return "Waits for its next attempt";
  if (what === "slot") return "Waits for a slot of the long lane";
  if (what === "executions" && executions.length > 0)
    return `Waits for ${plural(executions.length, "other execution")} of its job`;
  const text = withoutIds(detail);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** `orders, due 20:14`: the name of its job and its due instant tell executions apart. */
export function nameOfWaited(id: string, names: Waiting["job_names"]): string {
  const due = dueOf(id);
  const name = names[id];
  if (!due) return name ?? id;
  return name ? `${name}, due ${when(due)}` : `due ${when(due)} · …${id.slice(-6)}`;
}

/** A shorter wait delays nothing. */
const LEAST_SECONDS = 0.1;

export interface PastWait {
  reason: string;
  seconds: number;
}

/** The waits that are over, by reason, the longest first. Of the parts, the longest of each reason counts. */
export function pastWaits({ events }: Pick<Execution, "events">): PastWait[] {
  const byReason = new Map<string, Map<string, number>>();
  for (const { kind, at, until, reason, part } of events ?? []) {
    if (kind !== "waited" || !at || !until || !reason) continue;
    const parts = byReason.get(reason) ?? new Map<string, number>();
    const seconds = (Date.parse(until) - Date.parse(at)) / 1000;
    byReason.set(reason, parts.set(part ?? "", (parts.get(part ?? "") ?? 0) + seconds));
  }
  return [...byReason]
    .map(([reason, parts]) => ({ reason: titleOf(reason), seconds: Math.max(...parts.values()) }))
    .filter((one) => one.seconds >= LEAST_SECONDS)
    .sort((one, other) => other.seconds - one.seconds);
}

/** `A slot and its container` for `for a slot and its container`. */
function titleOf(reason: string): string {
  const text = withoutIds(reason).replace(/^(waits )?for /, "");
  return text.charAt(0).toUpperCase() + text.slice(1);
}
