import { expect, test } from "vitest";
import { entryAt, jobWith } from "./fixtures";
import { rangeOf, scaleOf } from "./range";
import { cellsOf, rowsOf } from "./rows";
import { asOf, countByDay, runsOf, within, worstOf } from "./runs";
import { alarmOfDay, backfillWords, clockChangeWords, runInWords, volumeOfDay } from "./words";

const WEEK = rangeOf("week", "2026-11-17", "2026-11-17", "UTC");
const scale = scaleOf(WEEK.columns, 1120);
const every = (hours: number, count: number) =>
  Array.from({ length: count }, (_, number) =>
    entryAt(new Date(WEEK.from + number * hours * 3_600_000).toISOString(), { status: "succeeded" }),
  );

test("a backfill that succeeded decides about the day that had failed", () => {
  const failed = entryAt("2026-11-15T03:00:00.000Z", { status: "failed" });
  const again = { ...failed, execution_id: `${failed.execution_id}-2`, status: "succeeded" as const };
  const [run, ...more] = runsOf(jobWith([again, failed]));
  expect([run?.outcome, run?.others.length, more.length]).toEqual(["succeeded", 1, 0]);
});

test("messages of one instant are runs of their own", () => {
  const one = entryAt("2026-11-15T03:00:00.000Z", { status: "succeeded" });
  const other = { ...one, execution_id: `${one.execution_id}-b` };
  expect(runsOf(jobWith([one, other], { takes_messages: true })).length).toBe(2);
});

test("the outcome of a run names its danger until it has ended", () => {
  const deadline = { at: "2026-11-15T04:00:00.000Z", state: "at_risk" as const, probability: 0.68 };
  const outcome = (more: object) => runsOf(jobWith([entryAt("2026-11-15T03:00:00.000Z", more)]))[0]?.outcome;
  expect(outcome({ deadline })).toBe("at_risk");
  expect(outcome({ deadline, status: "running" })).toBe("at_risk");
  expect(outcome({ deadline: { ...deadline, state: "missed" }, status: "succeeded" })).toBe("deadline_missed");
  expect(outcome({ deadline: { ...deadline, state: "missed" }, status: "failed" })).toBe("failed");
  expect(outcome({ execution_id: null, flag: "excluded" })).toBe("excluded");
  expect(outcome({})).toBe("scheduled");
});

test("a run that began before the range and lasts into it belongs to it", () => {
  const long = entryAt("2026-11-12T03:00:00.000Z", { status: "running", started_at: "2026-11-12T03:00:00.000Z" });
  const ended = entryAt("2026-11-13T03:00:00.000Z", { status: "succeeded", ended_at: "2026-11-13T04:00:00.000Z" });
  const later = entryAt("2026-11-23T03:00:00.000Z");
  expect(within(jobWith([long, ended, later]), WEEK.from, WEEK.to).entries).toEqual([long]);
});

test("a run that is queued before it is due is planned", () => {
  const job = jobWith([
    entryAt("2026-11-15T03:00:00.000Z", { status: "queued" }),
    entryAt("2026-11-15T05:00:00.000Z", { status: "queued" }),
  ]);
  const outcomes = runsOf(asOf(job, Date.parse("2026-11-15T04:00:00Z"))).map((run) => run.outcome);
  expect(outcomes).toEqual(["queued", "scheduled"]);
});

test("jobs that run often are drawn by the hour, queue jobs as volume", () => {
  const kind = (...jobs: Parameters<typeof jobWith>) => rowsOf([jobWith(...jobs)], scale)[0]?.kind;
  expect(kind(every(24, 7))).toBe("bars");
  expect(kind(every(3, 50))).toBe("bars");
  expect(kind(every(1, 100))).toBe("cells");
  expect(kind(every(0.25, 100))).toBe("cells");
  expect(kind(every(24, 3), { takes_messages: true })).toBe("volume");
});

test("a cell has the runs of its hour, and the worst of them", () => {
  const entries = every(0.25, 8);
  const failed = entryAt(entries[5]?.at ?? "", { status: "failed" });
  const [row] = rowsOf([jobWith([...entries.slice(0, 5), failed, ...entries.slice(6)])], scale);
  const cells = row ? cellsOf(row, WEEK.from) : [];
  expect(cells.map((cell) => [cell.runs.length, cell.worst, cell.failed])).toEqual([
    [4, "succeeded", 0],
    [4, "failed", 1],
  ]);
});

test("days are counted in the zone of the viewer", () => {
  const runs = runsOf(
    jobWith([
      entryAt("2026-11-15T03:00:00.000Z", { status: "failed" }),
      entryAt("2026-11-15T12:00:00.000Z", { status: "succeeded" }),
      entryAt("2026-11-16T12:00:00.000Z"),
    ]),
  );
  const utc = countByDay(runs, "UTC");
  expect(alarmOfDay(utc.get("2026-11-15"))).toEqual({ text: "1 failed", hue: "bad" });
  expect(volumeOfDay(utc.get("2026-11-15"))).toBe("2\u00a0ended".replace("\u00a0", " "));
  expect(volumeOfDay(utc.get("2026-11-16"))).toBe("1 planned");
  const newYork = countByDay(runs, "America/New_York");
  expect([newYork.get("2026-11-14")?.failed, newYork.get("2026-11-15")?.failed]).toEqual([1, 0]);
});

test("the worst outcome is the one that most needs attention", () => {
  expect(worstOf(["succeeded", "at_risk", "running"])).toBe("at_risk");
  expect(worstOf(["succeeded", "failed"])).toBe("failed");
  expect(worstOf(["excluded", "succeeded"])).toBe("succeeded");
  expect(worstOf([])).toBeNull();
});

test("a mark is described with its status and its times", () => {
  const [run] = runsOf(
    jobWith([
      entryAt("2026-11-17T03:00:00.000Z", {
        status: "failed",
        started_at: "2026-11-17T03:00:01.000Z",
        ended_at: "2026-11-17T03:21:00.000Z",
      }),
    ]),
  );
  if (run) expect(runInWords("payments", run)).toMatch(/^payments: Failed, due Tue 17 Nov.*, started .*, ended /);
});

test("the dry run of a backfill says what runs again", () => {
  const one = (at: string) => ({ execution_id: `${at}-01m7j3myg0ek38e4ygjbdtdd00-2`, scheduled_at: "", note: null });
  const none = { appear: [], repeat: [], vanish: [], left_out: 0, dry_run: true };
  expect(backfillWords(none)).toBe("Nothing would run: each of these runs is live or has succeeded.");
  const two = backfillWords({ ...none, repeat: [one("20261115T120000000Z"), one("20261117T120000000Z")] });
  expect(two).toMatch(/^Sun 15 Nov .* and Tue 17 Nov .* would run again\. Nothing else changes\.$/);
  expect(backfillWords({ ...none, appear: [one("20261115T120000000Z")], left_out: 4 })).toMatch(
    /first time\. And 4 more/,
  );
});

test("clock changes are named with their shift", () => {
  const at = "2026-11-01T06:00:00.000Z";
  expect(clockChangeWords([{ timezone: "America/New_York", at, shift_minutes: -60 }])).toBe("clocks −1\u00a0h");
});
