/** Data of the API that a view shows: read again every few seconds, and kept with its age if the API is away. */

import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { read, remembered } from "../api/client";
import { Problem } from "../api/problem";
import { isVisible } from "./clock";

export const LIST_MS = 5_000;
export const DETAIL_MS = 2_000;
const RETRY_MS = 5_000;

export interface Resource<T> {
  data: T | null;
  /** When the API confirmed `data`. */
  at: Date | null;
  /** Why the last read failed; `data` is then older than it seems. */
  problem: Problem | null;
  reload: () => void;
}

/** When the data of the visible view was confirmed, and since when the API is away: for the age in the top bar. */
export const freshness = signal<{ at: Date | null; awaySince: Date | null; reload: () => void }>({
  at: null,
  awaySince: null,
  reload: () => {},
});

/** Read `path` now and every `everyMs`, except in hidden tabs. A null path reads nothing. */
export function useResource<T>(path: string | null, everyMs: number = LIST_MS): Resource<T> {
  const [state, setState] = useState(() => initial<T>(path));
  const current = state.path === path ? state : initial<T>(path);

  useEffect(() => {
    if (path === null) return undefined;
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;

    const load = async () => {
      clearTimeout(timer);
      let pause = everyMs;
      try {
        const answer = await read<T>(path);
        if (isOver) return;
        freshness.value = { at: answer.at, awaySince: null, reload: load };
        setState({ path, data: answer.data, at: answer.at, problem: null, reload: load });
      } catch (error) {
        if (isOver) return;
        const problem = error instanceof Problem ? error : new Problem(0, String(error));
        pause = RETRY_MS;
        if (problem.isAway)
          freshness.value = { ...freshness.value, awaySince: freshness.value.awaySince ?? problem.at, reload: load };
        setState((before) => ({ ...(before.path === path ? before : initial<T>(path)), problem, reload: load }));
      }
      if (!isOver && everyMs > 0) timer = setTimeout(() => isVisible.value && load(), pause);
    };

    load();
    let wasVisible = isVisible.value; // subscribing calls at once: the first read is under way
    const stopWatching = isVisible.subscribe((visible) => {
      if (visible && !wasVisible && everyMs > 0) load();
      wasVisible = visible;
    });
    return () => {
      isOver = true;
      clearTimeout(timer);
      stopWatching();
    };
  }, [path, everyMs]);

  return current;
}

interface State<T> extends Resource<T> {
  path: string | null;
}

function initial<T>(path: string | null): State<T> {
  const before = path === null ? undefined : remembered<T>(path);
  return { path, data: before?.data ?? null, at: before?.at ?? null, problem: null, reload: () => {} };
}
