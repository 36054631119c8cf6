import { expect, test } from "vitest";
import { mayManage, mayOperate, maySubmit, me } from "./me";

test("only a member of a team submits jobs", () => {
  me.value = { subject: "maya", role: "admin", teams: [] };
  expect([mayOperate.value, maySubmit.value, mayManage("data")]).toEqual([true, false, true]);
  me.value = { subject: "maya", role: "operator", teams: [{ name: "data", role: "operator" }] };
  expect([maySubmit.value, mayManage("data"), mayManage("maya")]).toEqual([true, true, false]);
  me.value = { subject: "maya", role: "viewer", teams: [{ name: "data", role: "viewer" }] };
  expect(maySubmit.value).toBe(false);
});
