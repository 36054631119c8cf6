/** When the execution and its parts waited, ran and ended, with the forecast and the deadline. */

import type { Attempt, Execution, Part } from "../../api/types";
import { ExecutionStatus } from "../../components/status";
import { duration } from "../../format/duration";
import { clock, when } from "../../format/time";
import { now } from "../../state/clock";
import { MOST_ROWS } from "./parts";
import { FINAL } from "./view";

const WIDTH = 1000;
const ROW = 16;

interface Row {
  name: string;
  status: string;
  percent: number | null;
  from: number;
  started: number | null;
  ended: number | null;
  attempts: Attempt[];
  forecast: number | null;
}

export function Timeline({ execution }: { execution: Execution }) {
  const parts = (execution.parts ?? []).filter((part) => part.part !== "all");
  const rows = [
    rowOf("Execution", execution),
    ...(parts.length > MOST_ROWS ? [] : parts.map((part) => rowOf(nameOf(part), part))),
  ];
  const current = now.value.getTime();
  const deadline = execution.deadline && !FINAL.has(execution.status) ? Date.parse(execution.deadline.at) : null;
  const from = Date.parse(execution.scheduled_at);
  const ends = rows.flatMap((row) => [row.ended ?? current, row.forecast ?? 0]);
  const until = Math.max(...ends, deadline ?? 0, from + 1000);
  const x = (at: number) => ((Math.max(from, Math.min(until, at)) - from) / (until - from)) * WIDTH;
  return (
    <section class="card">
      <header>
        <h2>Timeline</h2>
        <span class="note">
          {when(new Date(from))} to {when(new Date(until))}
        </span>
        <Legend />
      </header>
      <ol class="timeline body">
        {rows.map((row) => (
          <li key={row.name}>
            <ExecutionStatus status={row.status} />
            <span class="strong part">{row.name}</span>
            <svg viewBox={`0 0 ${WIDTH} ${ROW}`} preserveAspectRatio="none" role="img" aria-label={inWords(row)}>
              <Bars row={row} x={x} current={current} />
              {deadline !== null && <path d={`M${x(deadline)} 0v${ROW}`} class="tick is-deadline" />}
              {!FINAL.has(execution.status) && <path d={`M${x(current)} 0v${ROW}`} class="tick" />}
            </svg>
            <span class="number">{row.percent === null ? "" : `${Math.round(row.percent)}%`}</span>
            <span class="number dim">
              {row.started ? duration(((row.ended ?? current) - row.started) / 1000) : "–"}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Bars({ row, x, current }: { row: Row; x: (at: number) => number; current: number }) {
  const end = row.ended ?? (FINAL.has(row.status) ? current : null);
  const failed = row.attempts.filter((attempt) => attempt.outcome !== "succeeded" && attempt.started_at);
  const runsFrom = Math.max(row.started ?? current, ...failed.map((attempt) => Date.parse(attempt.ended_at)));
  return (
    <>
      <Bar from={x(row.from)} to={x(row.started ?? end ?? current)} class="is-wait" />
      {failed.map((attempt) => (
        <Bar
          key={attempt.number}
          from={x(Date.parse(attempt.started_at ?? ""))}
          to={x(Date.parse(attempt.ended_at))}
          class="fill-bad"
        />
      ))}
      {row.started && row.status !== "retrying" && (
        <Bar
          from={x(runsFrom)}
          to={x(end ?? current)}
          class={row.status === "succeeded" ? "fill-ok" : FINAL.has(row.status) ? "fill-bad" : "fill-live"}
        />
      )}
      {row.forecast && row.forecast > current && <Bar from={x(current)} to={x(row.forecast)} class="is-forecast" />}
    </>
  );
}

function Bar({ from, to, class: className }: { from: number; to: number; class: string }) {
  if (to <= from) return null;
  return <rect x={from} y="3" width={Math.max(2, to - from)} height="10" rx="2" class={className} />;
}

function rowOf(name: string, item: Execution | Part): Row {
  const outlook = "part" in item ? item.expected_end : (item.median_end ?? item.deadline?.median_end);
  const asked = "scheduled_at" in item ? item.scheduled_at : item.requested_at;
  return {
    name,
    status: item.status,
    percent: item.progress?.percent ?? null,
    from: Date.parse(asked ?? item.started_at ?? new Date().toISOString()),
    started: item.started_at ? Date.parse(item.started_at) : null,
    ended: item.ended_at ? Date.parse(item.ended_at) : null,
    attempts: item.attempts ?? [],
    forecast: outlook && !FINAL.has(item.status) ? Date.parse(outlook) : null,
  };
}

export function nameOf(part: Part): string {
  if (part.part === "collect") return "Collect";
  return part.window ? when(new Date(part.window.start)) : `Part ${part.part}`;
}

function inWords(row: Row): string {
  const started = row.started ? `started ${clock(new Date(row.started))}` : "not started";
  const ended = row.ended ? `, ended ${clock(new Date(row.ended))}` : "";
  return `${row.name}: ${row.status}, ${started}${ended}`;
}

function Legend() {
  return (
    <span class="legend aside note">
      <i class="is-wait" /> Waits <i class="fill-live" /> Runs <i class="fill-ok" /> Succeeded <i class="fill-bad" />{" "}
      Failed <i class="is-forecast" /> Forecast
    </span>
  );
}
