import { describe, expect, it } from "vitest";
import { toggled } from "./selection";

const ORDER = ["a", "b", "c", "d"];

describe("a selection", () => {
  it("adds and removes one item", () => {
    expect([...toggled(new Set(["a"]), "b")]).toEqual(["a", "b"]);
    expect([...toggled(new Set(["a", "b"]), "a")]).toEqual(["b"]);
  });

  it("extends to a range in both directions", () => {
    expect([...toggled(new Set(["b"]), "d", ORDER, "b")]).toEqual(["b", "c", "d"]);
    expect([...toggled(new Set(["d"]), "c", ORDER, "d")]).toEqual(["d", "c"]);
  });

  it("toggles one item if the beginning of the range has left the list", () => {
    expect([...toggled(new Set(), "b", ORDER, "gone")]).toEqual(["b"]);
  });
});
