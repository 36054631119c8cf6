import { beforeEach, describe, expect, it, vi } from "vitest";

const memory = new Map<string, string>();
vi.stubGlobal("localStorage", {
  getItem: (key: string) => memory.get(key) ?? null,
  setItem: (key: string, value: string) => memory.set(key, value),
});
const { cleaned, forget, normal, save, savedViews } = await import("./saved-views");

beforeEach(() => {
  savedViews.value = {};
});

describe("saved views", () => {
  it("are kept in the browser, and replaced by their name", () => {
    save("jobs", { name: "Mine", query: "owner=a" });
    save("jobs", { name: "Mine", query: "owner=b" });
    expect(savedViews.value).toEqual({ jobs: [{ name: "Mine", query: "owner=b" }] });
    expect(JSON.parse(memory.get("punctual-views") ?? "")).toEqual(savedViews.value);
  });

  it("are forgotten by name", () => {
    save("jobs", { name: "Mine", query: "owner=a" });
    forget("jobs", "Mine");
    expect(savedViews.value.jobs).toEqual([]);
  });

  it("drop what is no view", () => {
    expect(cleaned({ jobs: [{ name: "Mine" }, null, { name: "Ours", query: "" }], other: 3 })).toEqual({
      jobs: [{ name: "Ours", query: "" }],
    });
  });

  it("ignore the order of filters and open dialogs", () => {
    expect(normal(new URLSearchParams("task=echo&do=bulk-pause&owner=a"))).toBe("owner=a&task=echo");
  });
});
