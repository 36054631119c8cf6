import { expect, it } from "vitest";
import type { Job } from "../../api/types";
import { sorted } from "./order";

function job(name: string, fields: object): Job {
  return { name, state: "active", next_due_at: null, last_execution: null, median_seconds: null, ...fields } as Job;
}

const ended = (status: string) => ({ status }) as Job["last_execution"];
const JOBS = [
  job("none", {}),
  job("paused", { state: "paused", next_due_at: "2026-11-17T00:00:00Z" }),
  job("later", { next_due_at: "2026-11-19T00:00:00Z", last_execution: ended("succeeded"), median_seconds: 60 }),
  job("soon", { next_due_at: "2026-11-18T00:00:00Z", last_execution: ended("failed"), median_seconds: 3600 }),
];

it.each([
  ["next", ["soon", "later", "none", "paused"]],
  ["last", ["soon", "later", "none", "paused"]],
  ["duration", ["soon", "later", "none", "paused"]],
])("sorts loaded jobs by %s, those without a value last", (order, names) => {
  expect(sorted(JOBS, order).map((one) => one.name)).toEqual(names);
});
