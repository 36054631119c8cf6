/** Read an address of the API again and again, except in hidden tabs, and sooner or later after a failure. */

import { signal } from "@preact/signals";
import { type Answer, read } from "../api/client";
import { Problem, problemIn } from "../api/problem";
import { isVisible } from "./clock";

/** When the data of the visible view was confirmed, and since when the API is away: for the age in the top bar. */
export const freshness = signal<{ at: Date | null; awaySince: Date | null }>({ at: null, awaySince: null });

const readers = new Set<() => void>();

/** Read everything again that the view shows. */
export function readAgain(): void {
  for (const load of readers) load();
}

/**
 * Read `path` now and every `everyMs` (0: once), and report each answer or problem. If the API is away, it is asked again
 * also without `everyMs`. Only the newest read is reported. Returns the function that stops it.
 */
export function watch<T>(
  path: string,
  everyMs: number,
  report: (outcome: Answer<T> | Problem, reload: () => void) => void,
): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let newest = 0;
  let pause = everyMs;

  const load = async () => {
    clearTimeout(timer);
    newest += 1;
    const number = newest;
    const outcome = await read<T>(path).catch(problemIn);
    if (number !== newest) return;
    const problem = outcome instanceof Problem ? outcome : null;
    if (!problem) freshness.value = { at: (outcome as Answer<T>).at, awaySince: null };
    else if (problem.isAway) freshness.value = { ...freshness.value, ...awayFrom(problem) };
    report(outcome, load);
    clearTimeout(timer);
    pause = problem?.retryMs ?? everyMs;
    if (pause > 0) timer = setTimeout(() => isVisible.value && load(), pause);
  };

  readers.add(load);
  load();
  let wasVisible = isVisible.value; // subscribing calls at once: the first read is under way
  const stopWatching = isVisible.subscribe((visible) => {
    if (visible && !wasVisible && pause) load();
    wasVisible = visible;
  });
  return () => {
    newest += 1;
    readers.delete(load);
    clearTimeout(timer);
    stopWatching();
  };
}

function awayFrom(problem: Problem) {
  return { awaySince: freshness.value.awaySince ?? problem.at };
}

/** Ask until there is an answer that will not change, and report each. Returns the function that stops it. */
export function ask<T>(question: () => Promise<T>, report: (answer: T | Problem) => void): () => void {
  let isOver = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const next = async () => {
    const answer: T | Problem = await question().catch(problemIn);
    if (isOver) return;
    report(answer);
    const pause = answer instanceof Problem ? answer.retryMs : null;
    if (pause !== null) timer = setTimeout(next, pause);
  };
  next();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
