import { expect, it } from "vitest";
import type { Deadline } from "../api/types";
import { axisOf, positionOn } from "./deadline-axis";

const NOW = Date.parse("2026-11-17T20:00:00Z");
const deadline = (at: string, p95_end: string | null = null) => ({ at, p95_end }) as Deadline;

it("spans from the earliest start to the latest end of all bars", () => {
  const axis = axisOf(
    [
      { deadline: deadline("2026-11-17T21:00:00Z", "2026-11-17T22:00:00Z"), startedAt: "2026-11-17T18:00:00Z" },
      { deadline: deadline("2026-11-17T20:30:00Z") },
    ],
    NOW,
  );
  expect(axis.from).toBe(Date.parse("2026-11-17T18:00:00Z"));
  expect(axis.until).toBeGreaterThan(Date.parse("2026-11-17T22:00:00Z"));
});

it("keeps instants outside of the axis at its edges", () => {
  const axis = { from: 100, until: 200 };
  expect([50, 100, 150, 300].map((at) => positionOn(axis, at))).toEqual([0, 0, 50, 100]);
});
