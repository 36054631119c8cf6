import { describe, expect, it } from "vitest";
import { fieldsBefore, type Revision } from "./restore";

function revision(number: number, ...changes: [string, unknown, unknown, boolean?][]): Revision {
  return {
    revision: number,
    by: "ada",
    at: "2026-11-17T09:12:44.000Z",
    changes: changes.map(([field, old, next, restorable = true]) => ({ field, old, new: next, restorable })),
  };
}

const REVISIONS = [
  revision(4, ["priority", "high", "low"]),
  revision(3, ["priority", "normal", "high"], ["name", "a", "b"]),
  revision(2, ["notify", null, "…", false]),
  revision(1),
];

describe("the fields that restore a revision", () => {
  it("have the value before the earliest change", () => {
    expect(fieldsBefore(REVISIONS, 3)).toEqual({ priority: "normal", name: "a" });
  });

  it("leave out earlier changes", () => {
    expect(fieldsBefore(REVISIONS, 4)).toEqual({ priority: "high" });
  });

  it("do not exist if a secret is among them", () => {
    expect(fieldsBefore(REVISIONS, 2)).toBeNull();
  });
});
