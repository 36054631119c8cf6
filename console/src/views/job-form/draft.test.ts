import { describe, expect, it } from "vitest";
import type { Job } from "../../api/types";
import { changedFields, curlOf, draftOf, kindOf, otherFields, withField } from "./draft";

describe("draftOf", () => {
  it("keeps what a submission may contain, and leaves out defaults and assigned fields", () => {
    const job = {
      job_id: "01m7",
      name: "nightly",
      task: "echo",
      state: "active",
      revision: 3,
      parameters: {},
      lane: "short",
      priority: "high",
      schedule: { cron: "0 2 * * *" },
      dedupe_key: null,
      depends_on: [],
      recent_executions: [{ status: "failed" }],
      deadline_state: "at_risk",
    } as unknown as Job;
    expect(draftOf(job)).toEqual({ name: "nightly", task: "echo", priority: "high", schedule: { cron: "0 2 * * *" } });
  });
});

it("leaves a field out when its value is empty", () => {
  expect(withField({ task: "echo", name: "x" }, "name", "")).toEqual({ task: "echo" });
  expect(withField({ task: "echo" }, "name", "y")).toEqual({ task: "echo", name: "y" });
});

it.each([
  [undefined, "now"],
  [{ cron: "* * * * *" }, "cron"],
  [{ every_seconds: 60 }, "every"],
  [{ queue: true }, "queue"],
  [{ at: "2026-11-17T00:00:00Z" }, "at"],
])("reads the kind of the schedule %j as %s", (schedule, kind) => {
  expect(kindOf({ task: "echo", ...(schedule ? { schedule } : {}) })).toBe(kind);
});

it("patches only what changed, and resets what is gone", () => {
  expect(changedFields({ task: "echo", priority: "high", name: "a" }, { task: "echo", name: "b" })).toEqual({
    priority: null,
    name: "b",
  });
});

it("quotes the body of a curl command for the shell", () => {
  expect(curlOf("POST", "https://host/jobs", { name: "it's" })).toContain(`"name": "it'\\''s"`);
});

it("leaves to the JSON field what has no input, such as webhooks", () => {
  expect(Object.keys(otherFields({ task: "echo", tags: {}, retry: {}, notify: { to: "page" } }))).toEqual(["retry"]);
  expect(Object.keys(otherFields({ task: "echo", notify: { to: { webhook: {} } } }))).toEqual(["notify"]);
});
