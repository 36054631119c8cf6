import { describe, expect, it } from "vitest";
import { bulkFilter, CHOICES, choiceOf } from "./actions";

describe("the filter of a bulk request", () => {
  it("has lists where the address has commas", () => {
    const query = new URLSearchParams("state=active,paused&task=echo&sort=name");
    expect(bulkFilter(query, ["state", "task"])).toEqual({ state: ["active", "paused"], task: "echo" });
  });

  it("keeps each of several tags", () => {
    expect(bulkFilter(new URLSearchParams("tag=a:1&tag=b:2"), ["tag"])).toEqual({ tag: ["a:1", "b:2"] });
  });

  it("is empty without filters", () => {
    expect(bulkFilter(new URLSearchParams("owner="), ["owner"])).toEqual({});
  });
});

describe("bulk actions", () => {
  it("are found by their kind", () => {
    expect(choiceOf("jobs", "pause")?.done).toBe("paused");
    expect(choiceOf("executions", "pause")).toBeUndefined();
  });

  it("mark what cannot be undone as dangerous", () => {
    const dangerous = Object.values(CHOICES).flatMap((all) => all.filter((one) => one.isDanger));
    expect(dangerous.map((one) => one.action)).toEqual(["cancel", "cancel"]);
  });
});
