import { expect, it } from "vitest";
import type { Execution } from "../../../api/types";
import { inWords, isNear, rowsOf } from "./rows";

const NOW = Date.parse("2026-11-19T16:00:00Z");
const at = (minutes: number) => new Date(NOW + minutes * 60_000).toISOString();
const clock = (instant: Date) => instant.toISOString().slice(11, 16);

function execution(more: object): Execution {
  return {
    status: "running",
    scheduled_at: at(-60),
    timezone: "UTC",
    events: [],
    attempt: 1,
    parts: null,
    waiting_for: null,
    ...more,
  } as unknown as Execution;
}

function kinds(one: Execution) {
  return rowsOf(one, NOW).map((row) => row.segments.map((segment) => segment.kind));
}

const DUE = { kind: "due", at: at(-60) };
const WAITED = { kind: "waited", at: at(-60), until: at(-30), reason: "for a worker" };
const FAILED = { kind: "attempt", at: at(-30), until: at(-20), attempt: 1, outcome: "failed", reason: "KeyError: 'x'" };
const RUNS = { kind: "attempt", at: at(-10), until: null, attempt: 2 };

it("shows the due instant, waits and attempts of the events, and the forecast", () => {
  const one = execution({ events: [DUE, WAITED, FAILED, RUNS], median_end: at(20), p95_end: at(30) });
  const [row] = rowsOf(one, NOW);
  expect(kinds(one)).toEqual([["wait", "bad", "runs", "forecast"]]);
  expect(row?.points.map((point) => point.kind)).toEqual(["due"]);
  expect(row?.segments[2]?.to).toBe(NOW);
  expect(row?.p95).toBe(NOW + 30 * 60_000);
});

it("shows an execution before its due instant, with its forecast", () => {
  const waiting_for = { what: "time", until: at(30), detail: "", ahead: null, executions: [], executions_ahead: [] };
  const one = execution({ status: "scheduled", scheduled_at: at(30), waiting_for, median_end: at(40) });
  const [row] = rowsOf(one, NOW);
  expect(row?.points.map(({ kind, at }) => [kind, at])).toEqual([["due", NOW + 30 * 60_000]]);
  expect(row?.segments.map((one) => [one.kind, one.from, one.to])).toEqual([
    ["forecast", NOW + 30 * 60_000, NOW + 40 * 60_000],
  ]);
});

it("shows a wait that no event records, with its reason and what is ahead", () => {
  const waiting_for = {
    what: "worker",
    detail: "waits for a worker of the queue low",
    until: at(5),
    ahead: 7,
    executions: [],
  };
  const [row] = rowsOf(execution({ status: "queued", events: [DUE], waiting_for }), NOW);
  expect(row?.segments.map((one) => one.kind)).toEqual(["wait", "expected-wait"]);
  expect(row?.label).toBe("Waits for a worker of the queue low, 7 ahead");
});

it("marks a preemption and the lease of the running attempt", () => {
  const preempted = { kind: "preempted", at: at(-20), attempt: 1, reason: "makes room" };
  const events = [DUE, { ...FAILED, outcome: "preempted" }, preempted, RUNS];
  const one = execution({ events, lease_until: at(1) });
  const [row] = rowsOf(one, NOW);
  expect(row?.segments.map((one) => one.kind)).toEqual(["idle", "runs"]);
  expect(row?.points.map((point) => point.kind)).toEqual(["due", "preempted", "lease"]);
});

it("has a row per part with its own events, and one bar of all parts", () => {
  const part = { part: "0001", status: "running", window: null, attempt: 1, started_at: at(-10), lease_until: null };
  const events = [DUE, { ...WAITED, part: "0001", until: at(-10) }, { ...RUNS, part: "0001" }];
  const one = execution({ events, parts: [{ ...part, expected_end: at(20) }], started_at: at(-10) });
  expect(kinds(one)).toEqual([
    ["wait", "runs"],
    ["wait", "runs", "forecast"],
  ]);
});

it("forecasts a waiting part from its expected start on", () => {
  const part = { part: "0001", status: "waiting", window: null, expected_start: at(30), expected_end: at(60) };
  const [, row] = rowsOf(execution({ parts: [part] }), NOW);
  expect(row?.segments.map((one) => [one.kind, one.from, one.to])).toEqual([
    ["expected-wait", NOW, NOW + 30 * 60_000],
    ["forecast", NOW + 30 * 60_000, NOW + 60 * 60_000],
  ]);
});

it("says everything that it draws, in order", () => {
  const [row] = rowsOf(execution({ events: [DUE, WAITED, FAILED], status: "failed" }), NOW);
  expect(row && inWords(row, clock)).toBe(
    "Execution: Failed. 15:00 Due. 15:00 to 15:30 Waited 30\u00a0min for a worker." +
      " 15:30 to 15:40 Attempt 1: failed after 10\u00a0min: KeyError: 'x'",
  );
});

it("leaves out a deadline so far away that the bars would vanish", () => {
  expect(isNear(300, 0, 100)).toBe(true);
  expect(isNear(301, 0, 100)).toBe(false);
});
