/** Names for the generated types that views use. */

import type { components } from "./schema";

type Schemas = components["schemas"];

export type Job = Schemas["Job"];
export type JobDetail = Schemas["JobDetail"];
export type Execution = Schemas["Execution"];
export type Part = Schemas["Part"];
export type Attempt = Schemas["Attempt"];
export type LogLine = Schemas["LogLine"];
export type Logs = Schemas["Logs"];
export type Deadline = Schemas["ExecutionDeadline"];
export type DeadlinePage = Schemas["DeadlinePage"];
export type Overview = Schemas["Overview"];
export type Queue = Schemas["QueueStatus"];
export type Queues = Schemas["Queues"];
export type Changes = Schemas["Changes"];
export type RunResponse = Schemas["RunResponse"];
export type Submission = Schemas["Submission"];
export type Instant = Schemas["Instant"];

export interface Page<T> {
  items: T[];
  cursor: string | null;
  total?: number | null;
  total_is_exact?: boolean | null;
}

export type RecentExecution = Schemas["RecentExecution"];
export type AttentionItem = Schemas["AttentionItem"];
export type DueExecution = Schemas["DueExecution"];
export type Summary = Schemas["Summary"];
export type LaneView = Schemas["LaneView"];
export type LanePart = Schemas["LanePart"];
export type Tasks = Schemas["Tasks"];
export type Calendar = Schemas["CalendarView"];
export type CalendarJob = Schemas["CalendarJob"];
export type CalendarEntry = Schemas["CalendarEntry"];
export type ClockChange = Schemas["ClockChange"];
export type LaneHour = Schemas["HourOfSlots"];
export type YieldForecast = Schemas["YieldForecast"];
export type QueueJob = Schemas["QueueJob"];
export type TimelineEvent = Schemas["TimelineEvent"];
export type Remedy = Schemas["Remedy"];
