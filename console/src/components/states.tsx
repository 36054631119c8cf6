/** What a view shows while it has no data, no match, or no API. An error never looks like an empty list. */

import type { ComponentChildren } from "preact";
import type { Problem } from "../api/problem";
import { duration } from "../format/duration";
import { clockSeconds } from "../format/time";
import type { Resource } from "../state/resource";
import { Mark } from "./status";

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="state" role="status">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function Failed({ what, problem, retry }: { what: string; problem: Problem; retry: () => void }) {
  const isGone = problem.status === 404;
  return (
    <div class="state" role="alert">
      <h2>{isGone ? `${what}: not found` : `${what}: not loaded`}</h2>
      <p>
        {problem.status || "No answer"} at {clockSeconds(problem.at)}: {problem.message}
      </p>
      {problem.isAway && <p class="dim">{tryingAgain(problem)}</p>}
      <button type="button" class="button" onClick={retry}>
        Try again
      </button>
    </div>
  );
}

/** `Trying again in 5 s.`, or nothing if the answer would be the same. */
export function tryingAgain({ retryMs }: Problem): string {
  return retryMs === null ? "" : `Trying again in ${duration(retryMs / 1000)}.`;
}

/** Show the data of a resource, or why there is none. Old data stay visible when a later read fails. */
export function Loaded<T>({
  what,
  of,
  children,
}: {
  what: string;
  of: Resource<T>;
  children: (data: T) => ComponentChildren;
}) {
  if (of.data !== null) {
    return (
      <>
        {of.problem && (
          <p class="banner tint-warn" role="status">
            <Mark hue="warn" icon="at_risk">
              {what}: the last read failed at {clockSeconds(of.problem.at)} ({of.problem.message}). Shown as of{" "}
              {of.at ? clockSeconds(of.at) : "before"}.
            </Mark>
          </p>
        )}
        {children(of.data)}
      </>
    );
  }
  if (of.problem) return <Failed what={what} problem={of.problem} retry={of.reload} />;
  return (
    <p class="state" role="status" aria-busy="true">
      Loading {what.toLowerCase()}…
    </p>
  );
}
