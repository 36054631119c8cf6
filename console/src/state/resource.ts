/** Data of the API that a view shows: read again every few seconds, and kept with its age if the API is away. */

import { useEffect, useState } from "preact/hooks";
import { remembered, send } from "../api/client";
import { Problem } from "../api/problem";
import { ask, watch } from "./watch";

export const LIST_MS = 5_000;
export const DETAIL_MS = 2_000;

export interface Resource<T> {
  data: T | null;
  /** When the API confirmed `data`. */
  at: Date | null;
  /** Why the last read failed; `data` is then older than it seems. */
  problem: Problem | null;
  reload: () => void;
}

/** Read `path` now and every `everyMs`, except in hidden tabs. A null path reads nothing. */
export function useResource<T>(path: string | null, everyMs: number = LIST_MS): Resource<T> {
  const [state, setState] = useState(() => initial<T>(path));
  useEffect(() => {
    if (path === null) return undefined;
    return watch<T>(path, everyMs, (outcome, reload) =>
      setState((before) => after(before.path === path ? before : initial<T>(path), outcome, reload)),
    );
  }, [path, everyMs]);
  return state.path === path ? state : initial<T>(path);
}

interface State<T> extends Resource<T> {
  path: string | null;
}

function initial<T>(path: string | null): State<T> {
  const before = path === null ? undefined : remembered<T>(path);
  return { path, data: before?.data ?? null, at: before?.at ?? null, problem: null, reload: () => {} };
}

/** The data of the last answer stay when a later read fails. */
export function after<T>(before: State<T>, outcome: { data: T; at: Date } | Problem, reload: () => void): State<T> {
  if (outcome instanceof Problem) return { ...before, problem: outcome, reload };
  return { ...before, data: outcome.data, at: outcome.at, problem: null, reload };
}

/** The answer to a request that writes nothing, such as a dry run. Null until there is one, or if `path` is null. */
export function useAnswer<T>(method: string, path: string | null, body?: unknown): T | Problem | null {
  const [answer, setAnswer] = useState<T | Problem | null>(null);
  const text = JSON.stringify(body);
  useEffect(() => {
    setAnswer(null);
    if (path === null) return undefined;
    const question = async () => (await send<T>(method, path, text === undefined ? undefined : JSON.parse(text))).data;
    return ask(question, setAnswer);
  }, [method, path, text]);
  return answer;
}
