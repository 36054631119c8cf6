/** What the calendar says about runs, cells and days. */

import type { CalendarEntry, Changes, ClockChange } from "../../api/types";
import { words } from "../../components/status";
import { count, duration, plural } from "../../format/duration";
import { clock, day, dueOf } from "../../format/time";
import type { Cell, Row } from "./rows";
import type { DayCount, Run } from "./runs";

export function nameOfOutcome(run: Run): string {
  if (run.outcome === "excluded") return run.entry.flag === "skipped" ? "Skipped by the clock change" : "Skipped date";
  if (run.outcome === "scheduled") return "Planned";
  if (run.outcome === "deadline_missed") return "Deadline missed";
  return words(run.outcome);
}

/** `payments-dedupe: Failed, due Tue 17 Nov 03:00, ended 03:21`. */
export function runInWords(name: string, run: Run): string {
  return `${name}: ${nameOfOutcome(run)}, ${timesInWords(run.entry)}`;
}

export function timesInWords(entry: CalendarEntry): string {
  const due = new Date(entry.at);
  const parts = [`due ${day(due)}, ${clock(due)}`];
  const near = (at: string) => (day(new Date(at)) === day(due) ? clock(new Date(at)) : moment(at));
  if (entry.started_at) parts.push(`started ${near(entry.started_at)}`);
  if (entry.ended_at) parts.push(`ended ${near(entry.ended_at)}`);
  else if (entry.median_end) parts.push(`ends about ${near(entry.median_end)}`);
  return parts.join(", ");
}

export function moment(at: string | Date): string {
  const instant = new Date(at);
  return `${day(instant)}, ${clock(instant)}`;
}

export function cellInWords(row: Row, cell: Cell): string {
  const hour = `${day(new Date(cell.from))}, ${clock(new Date(cell.from))} to ${clock(new Date(cell.to))}`;
  const failed = cell.failed ? `, ${count(cell.failed)} failed` : "";
  return `${row.name}: ${plural(cell.runs.length, cell.isPlanned ? "planned run" : "run")}${failed}, ${hour}`;
}

/** `3 failed`, else `1 at risk`, else nothing: the runs of a day that need attention. */
export function alarmOfDay(found: DayCount | undefined): { text: string; hue: "bad" | "warn" } | null {
  if (found?.failed) return { text: `${count(found.failed)} failed`, hue: "bad" };
  if (found?.inDanger) return { text: `${count(found.inDanger)} at risk`, hue: "warn" };
  return null;
}

export function volumeOfDay(found: DayCount | undefined): string {
  if (!found) return "";
  const parts: string[] = [];
  if (found.ended) parts.push(`${count(found.ended)} ended`);
  if (found.live) parts.push(`${count(found.live)} live`);
  if (found.planned) parts.push(`${count(found.planned)} planned`);
  return parts.join(", ");
}

/** The same for the head of a column, which has little room. */
export function volumeOfColumn(found: DayCount | undefined): string {
  return volumeOfDay(found && { ...found, live: 0, planned: found.ended ? 0 : found.planned });
}

/** `clocks −1 h`: of several zones, with the number of zones. */
export function clockChangeWords(changes: ClockChange[]): string {
  const shifts = [...new Set(changes.map((one) => one.shift_minutes))];
  const words = shifts.map((minutes) => `${minutes < 0 ? "−" : "+"}${duration(Math.abs(minutes) * 60)}`);
  return `clocks ${words.join(", ")}`;
}

/** The sentence of a dry run: `Sun 15 Nov 03:00 and Tue 17 Nov 03:00 run again. Nothing else changes.` */
export function backfillWords(changes: Changes): string {
  const again = changes.repeat.map((one) => one.execution_id);
  const missing = changes.appear.map((one) => one.execution_id);
  if (again.length + missing.length === 0) return "Nothing would run: each of these runs is live or has succeeded.";
  const sentences: string[] = [];
  if (again.length) sentences.push(`${listOf(again)} would run again.`);
  if (missing.length) sentences.push(`${listOf(missing)} would run for the first time.`);
  if (changes.left_out) sentences.push(`And ${count(changes.left_out)} more.`);
  return `${sentences.join(" ")} Nothing else changes.`;
}

const MOST_NAMED = 3;

function listOf(ids: string[]): string {
  const names = ids.slice(0, MOST_NAMED).map((id) => {
    const due = dueOf(id);
    return due ? `${day(due)} ${clock(due)}` : id;
  });
  const rest = ids.length - names.length;
  if (rest > 0) names.push(`${count(rest)} more`);
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}
