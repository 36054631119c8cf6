import { expect, it } from "vitest";
import { GLOBAL_KEYS, GO, KEY_GROUPS, VIEW_KEYS } from "./key-table";
import { GROUPS } from "./views";

it("has one key for each view", () => {
  expect(Object.keys(GO)).toHaveLength(GROUPS.flat().length);
});

it("no key of a view hides one of the console", () => {
  const own = Object.values(VIEW_KEYS).flatMap((keys) => Object.keys(keys));
  expect(own.filter((key) => key in GLOBAL_KEYS || key === "g")).toEqual([]);
});

it("lists every key, and each only once in its group", () => {
  const listed = KEY_GROUPS.flatMap((group) => group.keys.map(([keys]) => keys));
  const all = [...Object.keys(GLOBAL_KEYS), ...Object.values(VIEW_KEYS).flatMap((keys) => Object.keys(keys))];
  expect(all.filter((key) => !listed.includes(key))).toEqual([]);
  for (const { keys } of KEY_GROUPS) expect(new Set(keys.map(([one]) => one)).size).toBe(keys.length);
});
