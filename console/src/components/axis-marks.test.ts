import { expect, it } from "vitest";
import { marksOf } from "./axis-marks";

const FROM = Date.parse("2026-11-17T20:07:00Z");
const HOUR = 3_600_000;

it("names full hours, also in a zone with half an hour", () => {
  const [first] = marksOf(FROM, FROM + 6 * HOUR);
  expect(new Date(first?.at ?? 0).toISOString()).toBe("2026-11-17T21:00:00.000Z");
  const [shifted] = marksOf(FROM, FROM + 6 * HOUR, HOUR / 2);
  expect(new Date(shifted?.at ?? 0).toISOString()).toBe("2026-11-17T20:30:00.000Z");
});

it("names a few instants of any span", () => {
  for (const span of [10_000, HOUR, 24 * HOUR, 60 * 24 * HOUR])
    expect(marksOf(FROM, FROM + span).length).toBeLessThanOrEqual(8);
});
