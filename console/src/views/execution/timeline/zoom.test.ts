import { expect, it } from "vitest";
import { closer, moved, wider, zoomed } from "./zoom";

const at = (minute: number) => Date.UTC(2026, 10, 19, 12, minute);
const ALL = { from: at(0), until: at(40) };
const text = (from: number, until: number) =>
  `${new Date(at(from)).toISOString()}~${new Date(at(until)).toISOString()}`;

it("shows all without a span, and for one that is none or elsewhere", () => {
  for (const one of [null, "", "x~y", text(30, 10), text(50, 55)]) expect(zoomed(one, ALL)).toEqual(ALL);
  expect(zoomed(text(30, 55), ALL)).toEqual({ from: at(30), until: at(40) });
});

it("comes closer around the middle, and goes back to all", () => {
  const near = closer(ALL, ALL);
  expect(near).toBe(text(10, 30));
  expect(wider(zoomed(near, ALL), ALL)).toBeNull();
});

it("comes no closer than a tenth of a second", () => {
  const least = { from: at(1), until: at(1) + 100 };
  expect(zoomed(closer(least, ALL), ALL)).toEqual(least);
});

it("moves by half of what is shown, to the end of the timeline", () => {
  const near = zoomed(text(10, 30), ALL);
  expect(moved(near, ALL, 1)).toBe(text(20, 40));
  expect(moved(zoomed(text(20, 40), ALL), ALL, 1)).toBe(text(20, 40));
  expect(moved(near, ALL, -1)).toBe(text(0, 20));
  expect(wider(zoomed(text(30, 40), ALL), ALL)).toBe(text(20, 40));
});
