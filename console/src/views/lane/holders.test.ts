import { expect, test } from "vitest";
import type { LanePart } from "../../api/types";
import { holdersOf, nextSlotAt, partName } from "./holders";

function part(name: string, more: Partial<LanePart> = {}): LanePart {
  return {
    execution_id: "20261117T170000000Z-a",
    part: name,
    job_id: "a",
    job_name: "orders",
    timezone: "UTC",
    owner: "data",
    status: "running",
    priority: "normal",
    preemptible: true,
    vcpus: 2,
    latest_start: "2026-11-17T20:00:00.000Z",
    laxity_seconds: 600,
    requested_at: null,
    granted_at: "2026-11-17T17:00:00.000Z",
    started_at: null,
    expected_start: "2026-11-17T17:00:00.000Z",
    expected_end: "2026-11-17T22:00:00.000Z",
    progress: null,
    stopping: null,
    ...more,
  };
}

test("the parts of an execution hold their slots together", () => {
  const earlier = { granted_at: "2026-11-17T16:00:00.000Z", laxity_seconds: 300 };
  const later = { expected_end: "2026-11-17T23:00:00.000Z", stopping: "preempted" };
  const [found, ...more] = holdersOf([part("0001", earlier), part("0002", later)]);
  expect(more).toEqual([]);
  expect([found?.parts.length, found?.since, found?.until]).toEqual([
    2,
    "2026-11-17T16:00:00.000Z",
    "2026-11-17T23:00:00.000Z",
  ]);
  expect([found?.laxitySeconds, found?.stopping, found?.isPreemptible]).toEqual([300, "preempted", true]);
});

test("an execution whose parts all stop can make no more room", () => {
  expect(holdersOf([part("0001", { stopping: "preempted" })])[0]?.isPreemptible).toBe(false);
  expect(holdersOf([part("0001", { preemptible: false })])[0]?.isPreemptible).toBe(false);
});

test("parts are named by number, and the final step by its name", () => {
  expect(["all", "0003", "collect"].map((name) => partName(part(name)))).toEqual([
    "orders",
    "orders, part 3",
    "orders, final step",
  ]);
});

test("the next slot is the one that becomes free first, if none is free", () => {
  const parts = [part("0001"), part("0002", { expected_end: "2026-11-17T19:00:00.000Z" })];
  expect(nextSlotAt(parts, true)).toBe("2026-11-17T19:00:00.000Z");
  expect(nextSlotAt(parts, false)).toBeNull();
});
