import { expect, it } from "vitest";
import { requestedAt } from "./timeline-rows";

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
