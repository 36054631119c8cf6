import { describe, expect, it } from "vitest";
import type { Execution, RecentExecution } from "../../api/types";
import { isDeadlineDrawn, recentRunsOf, runsOf } from "./runs";

const RAN = {
  scheduled_at: "2026-11-17T12:00:00Z",
  started_at: "2026-11-17T12:10:00Z",
  ended_at: "2026-11-17T12:40:00Z",
  status: "succeeded",
  deadline: null,
} as Execution;

describe("the runs of a chart", () => {
  it("have the time from their start to their deadline, whatever rule set it", () => {
    const deadline = { at: "2026-11-17T13:00:00Z" } as Execution["deadline"];
    expect(runsOf([{ ...RAN, deadline }])).toEqual([
      { at: Date.parse(RAN.scheduled_at), seconds: 1800, isBad: false, allowed: 3000 },
    ]);
  });

  it("are the executions that ran and have ended, oldest first", () => {
    const earlier = { ...RAN, scheduled_at: "2026-11-10T12:00:00Z", status: "failed" } as Execution;
    const others = [
      { ...RAN, status: "running" },
      { ...RAN, started_at: null },
    ] as Execution[];
    expect(runsOf([RAN, earlier, ...others]).map((one) => one.isBad)).toEqual([true, false]);
  });

  it("come from the record of the job while its history is not read", () => {
    const recent = [
      { scheduled_at: RAN.scheduled_at, run_seconds: 3, status: "failed" },
      { scheduled_at: RAN.scheduled_at, run_seconds: null, status: "missed" },
    ] as RecentExecution[];
    expect(recentRunsOf(recent)).toEqual([
      { at: Date.parse(RAN.scheduled_at), seconds: 3, isBad: true, allowed: null },
    ]);
  });
});

it("leaves a deadline out of the chart that is far above all run times", () => {
  const run = (allowed: number | null) => [{ at: 0, seconds: 60, isBad: false, allowed }];
  expect([isDeadlineDrawn(run(600)), isDeadlineDrawn(run(601)), isDeadlineDrawn(run(null))]).toEqual([
    true,
    false,
    false,
  ]);
});
