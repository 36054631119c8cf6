/** What the timeline shows of an execution and of each of its parts. */

import type { Attempt, Execution, Part } from "../../api/types";
import { clock } from "../../format/time";
import { FINAL, MOST_ROWS } from "./final";
import { partName } from "./part-name";

export interface Row {
  name: string;
  status: string;
  percent: number | null;
  from: number;
  started: number | null;
  ended: number | null;
  attempts: Attempt[];
  /** When it is expected to start, if it waits, and to end. */
  forecastFrom: number | null;
  forecast: number | null;
}

export function rowsOf(execution: Execution): Row[] {
  const parts = (execution.parts ?? []).filter((part) => part.part !== "all");
  const own = rowOf("Execution", execution, requestedAt(execution));
  if (parts.length > MOST_ROWS) return [own];
  return [own, ...parts.map((part) => rowOf(partName(part, execution.timezone), part, own.from))];
}

/** When it could wait for the first time: a backfill is requested long after its due instant. */
export function requestedAt({ scheduled_at, events }: Pick<Execution, "scheduled_at" | "events">): number {
  const requested = events?.find((event) => event.kind === "requested")?.at;
  return Math.max(Date.parse(scheduled_at), requested ? Date.parse(requested) : 0);
}

function rowOf(name: string, item: Execution | Part, from: number): Row {
  const outlook = "part" in item ? item.expected_end : (item.median_end ?? item.deadline?.median_end);
  const asked = "part" in item ? item.requested_at : null;
  return {
    name,
    status: item.status,
    percent: item.progress?.percent ?? null,
    from: asked ? Date.parse(asked) : from,
    started: item.started_at ? Date.parse(item.started_at) : null,
    ended: item.ended_at ? Date.parse(item.ended_at) : null,
    attempts: item.attempts ?? [],
    forecastFrom: "part" in item && item.expected_start ? Date.parse(item.expected_start) : null,
    forecast: outlook && !FINAL.has(item.status) ? Date.parse(outlook) : null,
  };
}

export function inWords(row: Row): string {
  const started = row.started ? `started ${clock(new Date(row.started))}` : "not started";
  const ended = row.ended ? `, ended ${clock(new Date(row.ended))}` : "";
  return `${row.name}: ${row.status.replaceAll("_", " ")}, ${started}${ended}`;
}

/** A deadline further away than this many times what else is shown would leave no room for the bars. */
const FAR = 3;

/** Whether the timeline reaches to the deadline. */
export function isNear(deadline: number, from: number, last: number): boolean {
  return deadline - from <= FAR * (last - from);
}
