import { expect, it } from "vitest";
import { problemWithin } from "./problems";

const FIELDS = [
  { field: "retry.max_attempts", message: "must be at most 20" },
  { field: "notify.to.0.email", message: "must be one e-mail address" },
];

it.each([
  ["retry.max_attempts", "must be at most 20"],
  ["retry", "must be at most 20"],
  ["notify.to.0", "must be one e-mail address"],
  ["ret", undefined],
])("finds the problem within %s", (field, message) => {
  expect(problemWithin(FIELDS, field)).toBe(message);
});
