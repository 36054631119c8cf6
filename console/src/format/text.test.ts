import { describe, expect, it } from "vitest";
import { inWords, sentence } from "./text";

describe("inWords", () => {
  it.each([
    [0, "No things"],
    [1, "One thing"],
    [3, "Three things"],
    [1300, "1,300 things"],
  ])("writes %i as %s", (value, text) => {
    expect(inWords(value, "thing")).toBe(text);
  });
});

describe("sentence", () => {
  it("adds the capital letter and the full stop, once", () => {
    expect(sentence("the long lane is full")).toBe("The long lane is full.");
    expect(sentence("Done.")).toBe("Done.");
    expect(sentence("")).toBe("");
  });
});
