import { describe, expect, it } from "vitest";
import type { Job } from "../../api/types";
import { bodyOf, changedFields, curlOf, draftOf, FIELDS, isStarted, kindOf, withField } from "./draft";
import { GROUPS } from "./rules";

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
  expect(Object.keys(withField({ task: "echo", name: "x" }, "task", "sleep"))).toEqual(["task", "name"]);
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

it("has an input for each field of a submission", () => {
  const own = ["backlog", "deadline", "lane", "name", "overlap", "parameters", "priority", "schedule", "tags", "task"];
  const inGroups = GROUPS.flatMap((group) => Object.keys(group.fields));
  expect([...new Set([...own, "timeout_seconds", ...inGroups])].sort()).toEqual([...FIELDS].sort());
});

it("keeps the destinations of notices as a list", () => {
  expect(draftOf({ notify: { on: ["failed"], to: "page" } } as unknown as Job)).toEqual({
    notify: { on: ["failed"], to: ["page"] },
  });
});

it("submits a container without a task", () => {
  expect(bodyOf({ task: "", container: { image: "load" } })).toEqual({ container: { image: "load" } });
  expect([isStarted({ task: "" }), isStarted({ task: "echo" })]).toEqual([false, true]);
});
