import { describe, expect, it } from "vitest";
import { coarse, count, duration, plural, relative } from "./duration";

const plain = (text: string) => text.replaceAll("\u00a0", " ");

describe("duration", () => {
  it.each([
    [0, "0 s"],
    [0.0404, "40 ms"],
    [0.0001, "1 ms"],
    [0.12, "0.1 s"],
    [1.94, "1.9 s"],
    [46, "46 s"],
    [59.7, "1 min"],
    [204, "3 min 24 s"],
    [180, "3 min"],
    [25_920, "7 h 12 min"],
    [86_400, "1 day"],
    [97_200, "1 day 3 h"],
    [-90, "−1 min 30 s"],
  ])("writes %s seconds as %s", (seconds, text) => {
    expect(plain(duration(seconds))).toBe(text);
  });
});

describe("relative", () => {
  const now = new Date("2026-11-17T20:14:00Z");
  it.each([
    ["2026-11-17T20:14:00Z", "now"],
    ["2026-11-17T20:14:46Z", "in 46 s"],
    ["2026-11-17T20:02:00Z", "12 min ago"],
    ["2026-11-18T11:14:00Z", "in 15 h"],
    ["2026-11-21T20:14:00Z", "in 4 days"],
    ["2026-12-29T20:14:00Z", "in 6 weeks"],
  ])("writes %s as %s", (at, text) => {
    expect(plain(relative(now, new Date(at)))).toBe(text);
  });
});

it("groups thousands and matches the noun to the number", () => {
  expect(count(3214)).toBe("3,214");
  expect(plain(plural(1, "job"))).toBe("1 job");
  expect(plain(plural(3214, "job"))).toBe("3,214 jobs");
  expect(plain(coarse(60 * 60 * 36))).toBe("36 h");
});
