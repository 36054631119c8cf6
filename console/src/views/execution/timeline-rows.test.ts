import { expect, it } from "vitest";
import { isNear, requestedAt, rowsOf } from "./timeline-rows";

it("begins at the request of a backfill, not at its due instant long ago", () => {
  const events = [{ kind: "requested", at: "2026-11-19T15:00:00Z" }];
  const execution = { scheduled_at: "2026-11-10T12:00:00Z", events } as never;
  expect(requestedAt(execution)).toBe(Date.parse("2026-11-19T15:00:00Z"));
});

it("begins at the due instant of an execution that was requested before it", () => {
  const events = [{ kind: "requested", at: "2026-11-09T15:00:00Z" }];
  const execution = { scheduled_at: "2026-11-10T12:00:00Z", events } as never;
  expect(requestedAt(execution)).toBe(Date.parse("2026-11-10T12:00:00Z"));
});

it("leaves out a deadline so far away that the bars would vanish", () => {
  expect(isNear(300, 0, 100)).toBe(true);
  expect(isNear(301, 0, 100)).toBe(false);
});

it("forecasts a waiting part from its expected start on", () => {
  const part = { part: "0001", status: "queued", window: null, expected_start: "2026-11-19T16:30:00Z" };
  const execution = { scheduled_at: "2026-11-19T16:00:00Z", events: [], status: "running", timezone: "UTC" };
  const [, row] = rowsOf({ ...execution, parts: [{ ...part, expected_end: "2026-11-19T17:00:00Z" }] } as never);
  expect(row?.forecastFrom).toBe(Date.parse("2026-11-19T16:30:00Z"));
  expect(row?.forecast).toBe(Date.parse("2026-11-19T17:00:00Z"));
});
