/** The log of an execution: followed while it runs, with search, level and download. Lines are text, never markup. */

import { useEffect, useRef, useState } from "preact/hooks";
import { read } from "../../api/client";
import { Problem } from "../../api/problem";
import type { Execution, LogLine, Logs } from "../../api/types";
import { Icon } from "../../components/icon";
import { Empty } from "../../components/states";
import { zonesOf } from "../../components/time";
import { complain } from "../../components/toasts";
import { count } from "../../format/duration";
import { clockMilliseconds } from "../../format/time";
import { place, setQuery } from "../../router";
import type { KeysOf } from "../../shell/key-table";
import { isVisible } from "../../state/clock";
import { withParameters } from "../../state/list";
import { useViewKeys } from "../../state/view-keys";
import { downloadLog } from "./log-download";
import { partName } from "./part-name";

const LEVELS = ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"];
const FOLLOW_MS = 2_000;
const FIRST_LINES = "200";
/** The oldest lines are dropped from the page beyond this number: the download has all of them. */
const MOST_SHOWN = 5_000;

interface Shown {
  lines: LogLine[];
  before: string | null;
  total: number | null;
  isComplete: boolean;
}

export function Log({ execution }: { execution: Execution }) {
  const { query } = place.value;
  const filters = { level: query.get("level"), search: query.get("q") };
  const part = query.get("part");
  const parts = execution.parts ?? [];
  const names = new Map(parts.map((one) => [one.part, partName(one, execution.timezone)]));
  const { shown: all, problem, loadBefore } = useLog(execution.execution_id, filters);
  const shown = all && part ? { ...all, lines: all.lines.filter((line) => line.part === part) } : all;
  useViewKeys({
    f: () => document.querySelector<HTMLElement>(".log-follow")?.click(),
    l: () => setQuery({ level: levelAfter(filters.level) }, { replace: true }),
  } satisfies KeysOf<"execution">);
  const isFiltered = Boolean(filters.level || filters.search || part);
  return (
    <>
      <div class="log-bar">
        <span class="searchbox">
          <Icon name="search" />
          <input
            class="input"
            type="search"
            data-search
            aria-label="Search this log"
            placeholder="Search this log"
            value={filters.search ?? ""}
            onChange={(event) => setQuery({ q: event.currentTarget.value || null }, { replace: true })}
          />
        </span>
        <select
          class="input"
          aria-label="Lowest level"
          value={filters.level ?? ""}
          onChange={(event) => setQuery({ level: event.currentTarget.value || null }, { replace: true })}
        >
          <option value="">All levels</option>
          {LEVELS.map((level) => (
            <option key={level} value={level}>
              {level}
            </option>
          ))}
        </select>
        {parts.length > 1 && (
          <select
            class="input"
            aria-label="Part"
            value={part ?? ""}
            onChange={(event) => setQuery({ part: event.currentTarget.value || null }, { replace: true })}
          >
            <option value="">All parts</option>
            {parts.map((one) => (
              <option key={one.part} value={one.part}>
                {partName(one, execution.timezone)}
              </option>
            ))}
          </select>
        )}
        <button
          type="button"
          class="button is-icon"
          aria-label="Download the log"
          title="Download the whole log"
          onClick={() => downloadLog(execution.execution_id)}
        >
          <Icon name="download" />
        </button>
      </div>
      {problem && (
        <p class="error padded" role="alert">
          The log was not loaded: {problem}
        </p>
      )}
      {!shown && !problem && (
        <p class="state" role="status" aria-busy="true">
          Loading the log…
        </p>
      )}
      {shown && (
        <Lines
          shown={shown}
          timezone={execution.timezone}
          names={names}
          loadBefore={loadBefore}
          isFiltered={isFiltered}
        />
      )}
    </>
  );
}

interface LinesProps {
  shown: Shown;
  timezone: string;
  /** The names of the parts by their ids. */
  names: Map<string, string>;
  loadBefore: () => void;
  isFiltered: boolean;
}

function Lines({ shown, timezone, names, loadBefore, isFiltered }: LinesProps) {
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const [isFollowing, setFollowing] = useState(true);
  const last = shown.lines.length;
  useEffect(() => {
    if (isAtEnd.current && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [last]);
  const watch = (event: Event) => {
    const { scrollTop, scrollHeight, clientHeight } = event.currentTarget as HTMLElement;
    isAtEnd.current = scrollHeight - scrollTop - clientHeight < 24;
    setFollowing(isAtEnd.current);
  };
  const follow = () => {
    isAtEnd.current = !isFollowing;
    setFollowing(!isFollowing);
    if (!isFollowing) box.current?.scrollTo({ top: box.current.scrollHeight });
  };
  if (last === 0)
    return <Empty title={isFiltered ? "No line matches" : shown.isComplete ? "It wrote no log" : "No line yet"} />;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard */}
      <div class="log" role="log" aria-label="Log" tabIndex={0} ref={box} onScroll={watch}>
        {shown.before && (
          <button type="button" class="button is-plain" onClick={loadBefore}>
            Load earlier lines
          </button>
        )}
        {shown.lines.map((line, position) => (
          <p key={`${line.at}${position}`} class={tintOf(line.level)}>
            <time dateTime={line.at} title={zonesOf(new Date(line.at), timezone)}>
              {clockMilliseconds(new Date(line.at))}
            </time>
            <b>{line.level === "WARNING" ? "WARN" : line.level}</b>
            {line.part && names.size > 1 && <span class="dim part">{names.get(line.part) ?? line.part}</span>}
            <span>
              {line.message}
              {Object.entries(line.fields).map(([name, value]) => (
                <span key={name} class="dim">
                  {" "}
                  {name}={typeof value === "string" ? value : JSON.stringify(value)}
                </span>
              ))}
            </span>
          </p>
        ))}
      </div>
      <p class="log-foot note" role="status">
        {shown.isComplete ? "Complete" : isFollowing ? "Following" : "Not following"}
        {shown.total !== null && `, ${count(shown.total)} lines in all`}
        {!shown.isComplete && (
          <button type="button" class="button is-plain log-follow" onClick={follow}>
            {isFollowing ? "Stop following" : "Follow"} <kbd>f</kbd>
          </button>
        )}
      </p>
    </>
  );
}

/** All levels, then from the lowest to the highest one, then all again. */
function levelAfter(level: string | null): string | null {
  return LEVELS[level === null ? 0 : LEVELS.indexOf(level) + 1] ?? null;
}

function tintOf(level: string): string | undefined {
  if (level === "ERROR" || level === "CRITICAL") return "tint-bad";
  return level === "WARNING" ? "tint-warn" : undefined;
}

/** The last lines, and each new one within two seconds while the execution runs. */
function useLog(id: string, filters: Record<string, string | null>) {
  const [shown, setShown] = useState<Shown | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const base = withParameters(`/executions/${id}/logs`, filters);
  useEffect(() => {
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let after: string | null = null;
    const follow = async () => {
      try {
        const { data } = await read<Logs>(withMore(base, after ? { after } : { tail: FIRST_LINES }));
        if (isOver) return;
        const isFirst = after === null;
        after = data.after ?? after;
        setProblem(null);
        setShown((old) => (isFirst || !old ? pageOf(data) : appended(old, data)));
        if (!data.complete) timer = setTimeout(() => (isVisible.value ? follow() : wait()), FOLLOW_MS);
      } catch (error) {
        if (isOver) return;
        setProblem(error instanceof Problem ? error.message : String(error));
        timer = setTimeout(follow, FOLLOW_MS * 2);
      }
    };
    const wait = () => {
      timer = setTimeout(() => (isVisible.value ? follow() : wait()), FOLLOW_MS);
    };
    setShown(null);
    follow();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [base]);
  const loadBefore = async () => {
    if (!shown?.before) return;
    try {
      const { data } = await read<Logs>(withMore(base, { before: shown.before, limit: FIRST_LINES }));
      setShown({ ...shown, lines: [...data.items, ...shown.lines], before: data.before ?? null });
    } catch (error) {
      complain(error);
    }
  };
  return { shown, problem, loadBefore };
}

function pageOf(data: Logs): Shown {
  return { lines: data.items, before: data.before ?? null, total: data.total ?? null, isComplete: data.complete };
}

function appended(old: Shown, data: Logs): Shown {
  const lines = [...old.lines, ...data.items].slice(-MOST_SHOWN);
  return { lines, before: old.before, total: data.total ?? old.total, isComplete: data.complete };
}

export function withMore(path: string, parameters: Record<string, string>): string {
  return `${path}${path.includes("?") ? "&" : "?"}${new URLSearchParams(parameters)}`;
}
