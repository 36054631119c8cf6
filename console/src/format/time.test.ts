import { describe, expect, it } from "vitest";
import { cityOf, clock, clockMilliseconds, dueOf, when, withZone } from "./time";

describe("instants", () => {
  const at = new Date("2026-11-17T01:14:02.117Z");
  const now = new Date("2026-11-17T20:00:00Z");

  it("are shown in the zone that is asked for", () => {
    expect(clock(at, "America/New_York")).toBe("20:14");
    expect(clock(at, "Europe/Berlin")).toBe("02:14");
    expect(clockMilliseconds(at, "UTC")).toBe("01:14:02.117");
    expect(withZone(at, "America/New_York")).toContain("20:14:02 EST");
  });

  it("name the day only if it is not today", () => {
    expect(when(at, now, "UTC")).toBe("01:14");
    expect(when(at, now, "America/New_York")).toBe("Mon 20:14");
    expect(when(new Date("2026-10-25T01:00:00Z"), now, "UTC")).toBe("Sun 25 Oct, 01:00");
    expect(when(new Date("2025-10-25T01:00:00Z"), now, "UTC")).toBe("Sat 25 Oct 2025, 01:00");
  });

  it("are read from execution ids", () => {
    expect(dueOf("20261117T170000000Z-01m7k2qz")?.toISOString()).toBe("2026-11-17T17:00:00.000Z");
    expect(dueOf("something")).toBeNull();
  });

  it("name a zone by its city", () => {
    expect(cityOf("America/New_York")).toBe("New York");
    expect(cityOf("UTC")).toBe("UTC");
  });
});
