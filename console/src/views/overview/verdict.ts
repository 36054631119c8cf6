/** The verdict of the overview in words. */

import type { Overview, Summary } from "../../api/types";
import { count, plural } from "../../format/duration";
import { inWords } from "../../format/text";

const HOUR_MS = 3_600_000;
/** `due_next` of the API has at most this many. */
const MOST_DUE = 20;

export type Dangers = Record<"attention" | "deadlines" | "queues", number>;

export function dangersOf({ attention, deadlines, queues }: Overview): Dangers {
  return {
    attention: attention.filter((one) => one.acknowledgement === null).length,
    deadlines: deadlines.at_risk + deadlines.will_miss + deadlines.missed_live,
    queues: queues.filter((one) => one.minutes_until_breach !== null).length,
  };
}

/** `Three things need you`, `All right`. */
export function verdict({ attention }: Dangers): string {
  if (attention === 0) return "All right";
  return `${inWords(attention, "thing")} ${attention === 1 ? "needs" : "need"} you`;
}

/** `46 other deadlines are on track.` */
export function deadlinesOnTrack({ deadlines }: Overview, dangers: Dangers): string {
  const total = deadlines.on_track;
  if (total === 0) return "No other deadline is pending.";
  const other = dangers.deadlines ? "other " : "";
  return `${plural(total, `${other}deadline`)} ${total === 1 ? "is" : "are"} on track.`;
}

/** Of the executions that are due next, the one with the first deadline. */
export function nextDeadline({ due_next: due }: Pick<Overview, "due_next">) {
  const found = due.flatMap((one) => (one.deadline ? [{ ...one, deadline: one.deadline }] : []));
  return found.sort((one, other) => one.deadline.at.localeCompare(other.deadline.at))[0] ?? null;
}

/** `51,185 of 51,208 executions succeeded in the last 24 hours.` */
export function succeeded(summary: Summary | null): string {
  if (!summary) return "";
  const total = summary.items.reduce((sum, one) => sum + one.total, 0);
  if (total === 0) return "No execution ended in the last 24 hours.";
  const good = summary.items.reduce((sum, one) => sum + (one.counts.succeeded ?? 0), 0);
  return `${count(good)} of ${plural(total, "execution")} succeeded in the last 24 hours.`;
}

/** How many executions are due within an hour: the API names the next 20, so that more are `20+`. */
export function dueWithinAnHour({ due_next: due }: Pick<Overview, "due_next">, now: Date): string {
  const soon = due.filter((one) => Date.parse(one.scheduled_at) - now.getTime() <= HOUR_MS).length;
  return soon === MOST_DUE ? `${MOST_DUE}+` : count(soon);
}
