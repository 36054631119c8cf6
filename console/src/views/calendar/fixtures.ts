/** Entries and jobs for the tests of the calendar. */

import type { CalendarEntry, CalendarJob } from "../../api/types";

export function entryAt(at: string, more: Partial<CalendarEntry> = {}): CalendarEntry {
  return {
    at,
    local: at.slice(0, 19),
    flag: null,
    execution_id: `${at.replace(/[-:.]/g, "")}-01m7j3myg0ek38e4ygjbdtdd00`,
    status: null,
    reason: null,
    origin: null,
    started_at: null,
    ended_at: null,
    median_end: null,
    p95_end: null,
    deadline: null,
    tasks: null,
    vcpus: null,
    ...more,
  };
}

export function jobWith(entries: CalendarEntry[], more: Partial<CalendarJob> = {}): CalendarJob {
  return {
    job_id: "01m7j3myg0ek38e4ygjbdtdd00",
    job_name: "orders",
    tags: {},
    owner: "data",
    task: "echo",
    state: "active",
    lane: "short",
    timezone: "UTC",
    takes_messages: false,
    complete_from: "2026-11-15T00:00:00.000Z",
    complete_to: "2026-11-22T00:00:00.000Z",
    entries,
    ...more,
  };
}
