import { describe, expect, it } from "vitest";
import type { Overview } from "../../api/types";
import { deadlinesOnTrack, dueWithinAnHour, nextDeadline, succeeded, verdict } from "./verdict";

const NONE = { attention: 0, deadlines: 0, queues: 0 };
const NOW = new Date("2026-11-17T20:00:00Z");

function overview(on_track: number): Overview {
  return { deadlines: { on_track } } as Overview;
}

it("names the number of things that need a person in words", () => {
  expect(verdict({ ...NONE, attention: 3 })).toBe("Three things need you");
  expect(verdict({ ...NONE, attention: 1 })).toBe("One thing needs you");
  expect(verdict(NONE)).toBe("All right");
});

it("calls deadlines on track the others if some are in danger", () => {
  expect(deadlinesOnTrack(overview(46), { ...NONE, deadlines: 1 })).toBe("46\u00a0other deadlines are on track.");
  expect(deadlinesOnTrack(overview(1), NONE)).toBe("1\u00a0deadline is on track.");
});

it("says how many executions succeeded, and that none ended", () => {
  const items = [{ total: 5, counts: { succeeded: 4, failed: 1 } }];
  expect(succeeded({ items } as never)).toBe("4 of 5\u00a0executions succeeded in the last 24 hours.");
  expect(succeeded({ items: [] } as never)).toBe("No execution ended in the last 24 hours.");
});

it("names the first deadline of what is due next", () => {
  const due = (id: string, at: string | null) => ({ execution_id: id, deadline: at && { at } });
  expect(
    nextDeadline({ due_next: [due("a", "12:00"), due("b", null), due("c", "11:00")] as never })?.execution_id,
  ).toBe("c");
  expect(nextDeadline({ due_next: [due("b", null)] as never })).toBe(null);
});

describe("dueWithinAnHour", () => {
  const due = (minutes: number) => ({ scheduled_at: new Date(NOW.getTime() + minutes * 60_000).toISOString() });

  it("counts those within an hour", () => {
    expect(dueWithinAnHour({ due_next: [due(1), due(60), due(61)] } as never, NOW)).toBe("2");
  });

  it("does not claim to know more than the API names", () => {
    expect(dueWithinAnHour({ due_next: Array.from({ length: 20 }, () => due(1)) } as never, NOW)).toBe("20+");
  });
});
