import { expect, test } from "vitest";
import { me } from "../../state/me";
import { bodyOf, brokenOn, totalOf } from "./broken";
import { entryAt, jobWith } from "./fixtures";

const FROM = Date.parse("2026-11-17T00:00:00Z");
const TO = Date.parse("2026-11-18T00:00:00Z");
const failed = (at: string) => entryAt(at, { status: "failed", origin: "schedule" });

test("only missed and failed runs of the day, of jobs that the user may change, are repeated", () => {
  me.value = { subject: "maya", role: "operator", teams: [{ name: "data", role: "operator" }] };
  const entries = [
    failed("2026-11-16T23:59:00.000Z"),
    failed("2026-11-17T00:00:00.000Z"),
    entryAt("2026-11-17T01:00:00.000Z", { status: "missed" }),
    entryAt("2026-11-17T02:00:00.000Z", { status: "succeeded" }),
    failed("2026-11-18T00:00:00.000Z"),
  ];
  const other = jobWith(entries, { owner: "payments" });
  const done = jobWith(entries, { state: "done" });
  const queue = jobWith(entries, { takes_messages: true });
  const found = brokenOn([jobWith(entries), other, done, queue], FROM, TO);
  expect(found.map(({ runs }) => runs.map((run) => run.outcome))).toEqual([["failed", "missed"]]);
  expect(found.map(bodyOf)).toEqual([
    { from: "2026-11-17T00:00:00.000Z", to: "2026-11-17T01:00:00.001Z", which: "missing_and_failed" },
  ]);
});

test("a dry run counts what runs again, what runs first, and what it leaves out", () => {
  expect(totalOf({ appear: [{}], repeat: [{}, {}], vanish: [], left_out: 4 } as never)).toBe(7);
  expect(totalOf(undefined)).toBe(0);
});
