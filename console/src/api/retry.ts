/** Which requests are sent again, and after which pause. */

import { isAway, retryAfterMs } from "./problem";

const TRIES = 3;
const FIRST_PAUSE_MS = 500;
/** If the API asks for a longer pause, the view tries again later. */
const LONGEST_PAUSE_MS = 4_000;

/** POST requests that accept an `Idempotency-Key`: a repetition has no further effect. */
const KEYED = [
  /^\/jobs(\/batch|\/bulk)?$/,
  /^\/jobs\/[^/]+\/(run|backfill|messages)$/,
  /^\/executions\/bulk$/,
  /^\/executions\/[^/]+\/(retry|yield)$/,
  /^\/operations\/[^/]+\/undo$/,
];
const PREVIEW = "/schedules/preview";

export function acceptsKey(method: string, path: string): boolean {
  return method === "POST" && KEYED.some((one) => one.test(path.split("?")[0] ?? ""));
}

/** Whether a request writes nothing: a read, a preview, or a dry run. */
export function isRead(method: string, path: string): boolean {
  return method === "GET" || path === PREVIEW || new URLSearchParams(path.split("?")[1]).get("dry_run") === "true";
}

/**
 * Send until the API answers, at most three times. `send` returns null if there is no answer. The pauses double, are
 * random, so that many consoles do not come back at once, and are never shorter than the API asks for.
 */
export async function persistently(send: () => Promise<Response | null>): Promise<Response | null> {
  for (let attempt = 1; ; attempt++) {
    const response = await send();
    if (response !== null && !isAway(response.status)) return response;
    const wanted = FIRST_PAUSE_MS * 2 ** (attempt - 1) * (0.5 + Math.random());
    const pause = Math.max(wanted, (response && retryAfterMs(response)) ?? 0);
    if (attempt === TRIES || pause > LONGEST_PAUSE_MS) return response;
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
