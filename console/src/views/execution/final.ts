/** The statuses in which an execution has ended. */
export const FINAL = new Set(["succeeded", "failed", "timed_out", "cancelled", "skipped", "missed"]);

/** Up to this number of parts, each has a row in the timeline; beyond, they are a grid. */
export const MOST_ROWS = 20;
