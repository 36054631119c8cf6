import { expect, test, vi } from "vitest";
import { stubPage } from "../api/page-stub";
import { Problem } from "../api/problem";

vi.useFakeTimers();
stubPage();
const { joined, withParameters } = await import("./list");
const { after } = await import("./resource");

const page = (ids: string[], cursor: string | null = null) => ({ items: ids.map((id) => ({ id })), cursor });
const idsOf = (pages: ReturnType<typeof page>[]) => joined(pages, (one) => one.id).map((one) => one.id);

test("an item that a new one moved to the next page is shown once", () => {
  expect(idsOf([page(["new", "a", "b"]), page(["b", "c"])])).toEqual(["new", "a", "b", "c"]);
});

test("of an item on two pages, the newest state is shown", () => {
  const first = { items: [{ id: "a", status: "succeeded" }], cursor: null };
  const old = { items: [{ id: "a", status: "running" }], cursor: null };
  expect(joined([first, old], (one) => one.id)).toEqual([{ id: "a", status: "succeeded" }]);
});

test("parameters without a value are left out of an address", () => {
  expect(withParameters("/jobs", { name: "a&b", owner: null, task: undefined, sort: "" })).toBe("/jobs?name=a%26b");
  expect(withParameters("/jobs", {})).toBe("/jobs");
});

test("a failed read keeps the data and their age, and is never an empty list", () => {
  const at = new Date();
  const nothing = { path: "/jobs", data: null, at: null, problem: null, reload: () => {} };
  const reload = () => {};
  const problem = new Problem(503, "away");
  expect(after(nothing, problem, reload)).toMatchObject({ data: null, problem });
  const loaded = after(nothing, { data: page(["a"]), at }, reload);
  expect(after(loaded, problem, reload)).toMatchObject({ data: page(["a"]), at, problem });
  expect(after(after(loaded, problem, reload), { data: page([]), at }, reload).problem).toBeNull();
});
