/** The events of an execution in words. */

import type { Execution, TimelineEvent } from "../../../api/types";
import { words } from "../../../components/status";
import { duration } from "../../../format/duration";
import { withoutIds } from "../../../format/ids";
import { partName } from "../part-name";

/** The names of the parts, by their ids. The whole execution needs none. */
export function partNames({ parts, timezone }: Pick<Execution, "parts" | "timezone">): Map<string, string> {
  const named = (parts ?? []).filter((one) => one.part !== "all");
  return new Map(named.map((one) => [one.part, partName(one, timezone)]));
}

/** `Waited 12 min for a slot`, `Attempt 2 of Mon 9 Nov: failed after 3 min`. */
export function sentence(event: TimelineEvent, now: number, names: Map<string, string> = new Map()): string {
  const { kind, attempt, part, outcome, until } = event;
  const name = part && names.get(part);
  const place = name ? ` of ${name}` : "";
  const lasted = lengthOf(event, now);
  if (kind === "attempt") {
    const end = outcome ? `${words(outcome).toLowerCase()} after` : until ? "ran" : "runs since";
    return `Attempt ${attempt ?? ""}${place}: ${end} ${lasted}`;
  }
  if (kind === "waited")
    return `${until ? "Waited" : "Waits"}${name ? ` (${name})` : ""} ${lasted}${whyOf(event)}`.trim();
  if (kind === "preempted") return `Attempt ${attempt ?? ""}${place}: preempted, its slot is released`;
  if (kind === "stopping") return `Asked to stop${name ? ` (${name})` : ""}`;
  return `${words(kind)}${place}`;
}

/** Why, unless the sentence says so. */
export function reasonOf({ kind, reason }: TimelineEvent): string {
  return kind === "waited" || !reason ? "" : withoutIds(reason);
}

/** ` for a slot`, `: waits for load to succeed`. */
function whyOf({ reason }: TimelineEvent): string {
  if (!reason) return "";
  return reason.startsWith("for ") ? ` ${reason}` : `: ${withoutIds(reason)}`;
}

function lengthOf({ at, until }: TimelineEvent, now: number): string {
  if (!at) return "";
  return duration(Math.max(0, ((until ? Date.parse(until) : now) - Date.parse(at)) / 1000));
}
