/** What the timeline shows of an execution and of each of its parts: from the events of the API, and the forecast. */

import type { Execution, Part, TimelineEvent } from "../../../api/types";
import type { Axis } from "../../../components/deadline-axis";
import { words } from "../../../components/status";
import { FINAL, MOST_ROWS } from "../final";
import { waitingWords } from "../waits";
import { partNames, reasonOf, sentence } from "./words";

export type SegmentKind = "wait" | "runs" | "ok" | "bad" | "idle" | "expected-wait" | "forecast";

export interface Segment {
  kind: SegmentKind;
  from: number;
  to: number;
  said: string;
}

export interface Point {
  kind: "due" | "requested" | "queued" | "preempted" | "stopping" | "lease" | "ended";
  at: number;
  said: string;
}

export interface Row {
  name: string;
  status: string;
  percent: number | null;
  segments: Segment[];
  points: Point[];
  /** The end of the forecast that 95% of the runs keep. */
  p95: number | null;
  /** Beside the bars: why it waits, which attempt it is. */
  label: string;
  started: number | null;
  ended: number | null;
}

export function rowsOf(execution: Execution, now: number): Row[] {
  const parts = (execution.parts ?? []).filter((part) => part.part !== "all");
  const events = execution.events ?? [];
  const own = ownRow(execution, events, now);
  if (parts.length > MOST_ROWS) return [own];
  const names = partNames(execution);
  return [own, ...parts.map((part) => partRow(names.get(part.part) ?? part.part, part, events, now))];
}

/** The whole execution: its own events, and while its parts wait or run, one bar for all of them. */
function ownRow(execution: Execution, events: TimelineEvent[], now: number): Row {
  const parts = (execution.parts ?? []).filter((part) => part.part !== "all");
  const ended = at(execution.ended_at);
  const lease = (execution.parts ?? []).find((part) => part.part === "all")?.lease_until ?? execution.lease_until;
  const segments = segmentsOf(
    events.filter((event) => !isOfPart(event)),
    now,
  );
  if (parts.length > 0) segments.push(...runsOfParts(execution, events, now));
  const { waiting_for: waiting } = execution;
  const label = waiting && waiting.what !== "time" ? waitingWords(waiting) : "";
  addOpenWait(segments, execution, events, label, now);
  const expected = at(waiting?.until) ?? Math.max(Date.parse(execution.scheduled_at), at(execution.retry_at) ?? 0);
  segments.push(...forecastOf(execution, at(execution.median_end ?? execution.deadline?.median_end), expected, now));
  return {
    name: "Execution",
    status: execution.status,
    percent: execution.progress?.percent ?? null,
    segments,
    points: pointsOf(execution, events, lease ?? null, now),
    p95: FINAL.has(execution.status) ? null : at(execution.p95_end ?? execution.deadline?.p95_end),
    label: label || attemptLabel(execution),
    started: at(execution.started_at),
    ended,
  };
}

function partRow(name: string, part: Part, events: TimelineEvent[], now: number): Row {
  const own = events.filter((event) => event.part === part.part);
  const segments = segmentsOf(own, now);
  segments.push(...forecastOf(part, at(part.expected_end), at(part.expected_start) ?? now, now));
  const points = own.flatMap((event) => pointOf(event));
  if (part.lease_until) points.push(leasePoint(part.lease_until, now));
  return {
    name,
    status: part.status,
    percent: part.progress?.percent ?? null,
    segments,
    points,
    p95: null,
    label: partLabel(part),
    started: at(part.started_at),
    ended: at(part.ended_at),
  };
}

const OUTCOMES: Record<string, SegmentKind> = {
  succeeded: "ok",
  preempted: "idle",
  cancelled: "idle",
  interrupted: "idle",
};

function segmentsOf(events: TimelineEvent[], now: number): Segment[] {
  return events.flatMap((event) => {
    const from = at(event.at);
    if (from === null || (event.kind !== "waited" && event.kind !== "attempt")) return [];
    const running: SegmentKind = event.until ? "bad" : "runs";
    const kind = event.kind === "waited" ? "wait" : event.outcome ? (OUTCOMES[event.outcome] ?? "bad") : running;
    return [{ kind, from, to: at(event.until) ?? Math.max(from, now), said: said(event, now) }];
  });
}

/** From the first request for a slot to the end of the last part. */
function runsOfParts(execution: Execution, events: TimelineEvent[], now: number): Segment[] {
  const requested = events.flatMap((one) => (one.kind === "waited" && isOfPart(one) && one.at ? [one.at] : []));
  const first = at(requested.sort()[0]);
  const started = at(execution.started_at);
  const end = at(execution.ended_at) ?? now;
  const segments: Segment[] = [];
  const from = started ?? end;
  if (first !== null && first < from) segments.push({ kind: "wait", from: first, to: from, said: "Waited for slots" });
  if (started !== null)
    segments.push({ kind: kindOf(execution.status), from: started, to: end, said: words(execution.status) });
  return segments;
}

function kindOf(status: string): SegmentKind {
  if (!FINAL.has(status)) return "runs";
  if (status === "succeeded") return "ok";
  return status === "cancelled" || status === "skipped" ? "idle" : "bad";
}

/** The wait that is not over, which the events contain only if the record stores its beginning. */
function addOpenWait(segments: Segment[], execution: Execution, events: TimelineEvent[], label: string, now: number) {
  if (!label || segments.some((one) => one.to >= now)) return;
  const begins = events.flatMap((one) => (one.at && !isOfPart(one) ? [Date.parse(one.until ?? one.at)] : []));
  const due = Date.parse(execution.scheduled_at);
  const from = Math.max(...begins.filter((one) => one <= now), due <= now ? due : 0);
  if (from > 0 && from < now) segments.push({ kind: "wait", from, to: now, said: label });
}

function forecastOf(item: Execution | Part, end: number | null, expected: number, now: number): Segment[] {
  if (FINAL.has(item.status)) return [];
  const isRunning = item.status === "running";
  const start = isRunning ? now : Math.max(now, expected);
  const due = "scheduled_at" in item ? Date.parse(item.scheduled_at) : now;
  const segments: Segment[] = [];
  if (!isRunning && start > Math.max(now, due))
    segments.push({ kind: "expected-wait", from: Math.max(now, due), to: start, said: "Expected to wait until then" });
  if (end !== null && end > start) segments.push({ kind: "forecast", from: start, to: end, said: "Forecast" });
  return segments;
}

function pointsOf(execution: Execution, events: TimelineEvent[], lease: string | null, now: number): Point[] {
  const due = Date.parse(execution.scheduled_at);
  const points = events.filter((event) => !isOfPart(event) && !isEarly(event, due)).flatMap((event) => pointOf(event));
  const isPlanned = !points.some((one) => one.kind === "due" || one.kind === "requested");
  if (isPlanned && due > now) points.unshift({ kind: "due", at: due, said: "Due" });
  if (lease) points.push(leasePoint(lease, now));
  return points;
}

/** Queued minutes before its due instant, as usual: it would only squeeze what follows. */
function isEarly({ kind, at: queued }: TimelineEvent, due: number): boolean {
  return kind === "queued" && queued !== null && Date.parse(queued) < due;
}

function pointOf(event: TimelineEvent): Point[] {
  const when = at(event.at);
  const { kind } = event;
  if (when === null || kind === "waited" || kind === "attempt") return [];
  return [{ kind, at: when, said: said(event, when) }];
}

function leasePoint(lease: string, now: number): Point {
  const until = Date.parse(lease);
  return {
    kind: "lease",
    at: until,
    said: until < now ? "Its lease has expired" : "Its worker renews the lease by then",
  };
}

function said(event: TimelineEvent, now: number): string {
  return [sentence(event, now), reasonOf(event)].filter(Boolean).join(": ");
}

function partLabel(part: Part): string {
  if (part.stopping) return `stops: ${part.stopping}`;
  if (part.status === "waiting") return "waits for a slot";
  if (part.kept_from) return "kept from an earlier execution";
  if (part.part === "collect" && part.status === "scheduled") return "after all parts";
  return attemptLabel(part);
}

function attemptLabel({ attempt, status }: Pick<Part, "attempt" | "status">): string {
  return attempt > 1 ? `attempt ${attempt}${status === "retrying" ? " follows" : ""}` : "";
}

/** `all` is the only part of an execution that is not partitioned. */
function isOfPart({ part }: TimelineEvent): boolean {
  return Boolean(part) && part !== "all";
}

function at(text: string | null | undefined): number | null {
  return text ? Date.parse(text) : null;
}

/** A row for readers that do not see it: its status, and everything that its bars and marks show, in order. */
export function inWords(row: Row, clock: (at: Date) => string): string {
  const things = [
    ...row.points.map((point) => ({ at: point.at, text: `${clock(new Date(point.at))} ${point.said}` })),
    ...row.segments.map((one) => ({
      at: one.from,
      text: `${clock(new Date(one.from))} to ${clock(new Date(one.to))} ${one.said}`,
    })),
  ].sort((one, other) => one.at - other.at);
  const percent = row.percent === null ? "" : ` ${Math.round(row.percent)}%`;
  return [`${row.name}: ${words(row.status)}${percent}`, ...things.map((one) => one.text), row.label]
    .filter(Boolean)
    .join(". ");
}

/** What of a row is in a span of the timeline. */
export function shownOf(row: Row, { from, until }: Axis): Row {
  return {
    ...row,
    p95: row.p95 !== null && row.p95 <= until ? row.p95 : null,
    segments: row.segments.filter((one) => one.to >= from && one.from <= until),
    points: row.points.filter((one) => one.at >= from && one.at <= until),
  };
}

/** A deadline further away than this many times what else is shown would leave no room for the bars. */
const FAR = 3;

/** Whether the timeline reaches to the deadline. */
export function isNear(deadline: number, from: number, last: number): boolean {
  return deadline - from <= FAR * (last - from);
}
