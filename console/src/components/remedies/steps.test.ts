import { expect, it, vi } from "vitest";

vi.mock("../../router", () => ({
  withQuery: (changes: Record<string, string>) => `?${new URLSearchParams(changes)}`,
}));

import { actionIn, jobOf, stepsOf } from "./steps";

const JOB = "01m7j3myg0ek38e4ygjbdtdd00";
const EXECUTION = `20261115T070000000Z-${JOB}-2`;
const remedy = (action: string, target: string) => ({ action, target, effect: "" }) as never;

it("has a button for each step that the console can take, each only once", () => {
  const steps = stepsOf(
    [
      remedy("cancel_execution", EXECUTION),
      remedy("edit_job", "deadline"),
      remedy("edit_job", "schedule"),
      remedy("raise_setting", "long.vcpus"),
      remedy("check_component", "ecs"),
      remedy("wait", EXECUTION),
    ],
    JOB,
  );
  expect(steps.map((one) => [one.text, one.to, one.isChange])).toEqual([
    ["Make room…", `?do=yield.${EXECUTION}`, true],
    ["Edit job", `/jobs/${JOB}/edit`, true],
    ["Open long lane", "/lane", false],
  ]);
});

it("asks with a dry run for a retry and a priority", () => {
  const steps = stepsOf([remedy("retry_execution", EXECUTION), remedy("edit_job", "priority")], JOB);
  expect(steps.map((one) => one.to)).toEqual([`?do=retry.${EXECUTION}`, `?do=high.${JOB}`]);
});

it("finds the job of an execution, and the action in the address", () => {
  expect(jobOf(EXECUTION)).toBe(JOB);
  expect(actionIn(new URLSearchParams({ do: `yield.${EXECUTION}` }))).toEqual({ action: "yield", id: EXECUTION });
  expect(actionIn(new URLSearchParams({ do: "cancel" }))).toBe(null);
});
