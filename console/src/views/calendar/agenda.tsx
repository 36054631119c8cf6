/** A day on a narrow screen: hours down, and below each hour the jobs that run in it; frequent jobs come first. */

import { useMemo, useRef } from "preact/hooks";
import { Icon } from "../../components/icon";
import { Link } from "../../components/link";
import { count, plural } from "../../format/duration";
import { clock, when } from "../../format/time";
import { place, setQuery } from "../../router";
import { Hatches } from "./legend";
import { Popover } from "./popover";
import { scaleOf } from "./range";
import { type Row, rowsOf } from "./rows";
import { hueOf, iconOf, isBad, isInDanger, type Outcome, type Run, worstOf } from "./runs";
import { Slots } from "./slots";
import type { SpanProps } from "./view";
import { useWidth } from "./width";
import { nameOfOutcome } from "./words";

interface Line {
  row: Row;
  run: Run;
}

const HOUR_MS = 3_600_000;
/** As wide as a day on a desk, so that the same jobs count as frequent. */
const WIDTH = 1000;
const OFTEN = 12;

export function Agenda({ range, jobs, data, now, reload }: SpanProps) {
  const body = useRef<HTMLDivElement>(null);
  const width = useWidth(body);
  const rows = useMemo(() => rowsOf(jobs, scaleOf(range.columns, WIDTH)), [jobs, range]);
  const frequent = rows.filter(isFrequent);
  const lines = useMemo(() => linesOf(rows), [rows]);
  const key = place.value.query.get("do");
  const opened = lines.find(({ run }) => run.key === key);
  const hours = [...new Set(lines.map(({ run }) => hourOf(run.at, range.from)))];
  const next = hours.find((hour) => hour > now);
  return (
    <div class="calendar-body" ref={body}>
      <Hatches />
      {data.long_lane && width > 0 && (
        <Slots lane={data.long_lane} jobs={jobs} range={range} scale={scaleOf(range.columns, width)} now={now} />
      )}
      {frequent.length > 0 && (
        <div class="agenda-hour">
          <h2>Often</h2>
          <ul>
            {frequent.map((row) => (
              <FrequentLine key={row.job.job_id} row={row} />
            ))}
          </ul>
        </div>
      )}
      {hours.map((hour) => (
        <>
          {hour === next && now >= range.from && (
            <p key="now" class="agenda-now">
              <b>{clock(new Date(now))}</b>
            </p>
          )}
          <div key={hour} class="agenda-hour">
            <h2>{hour < range.from ? "Before" : clock(new Date(hour))}</h2>
            <ul>
              {lines
                .filter(({ run }) => hourOf(run.at, range.from) === hour)
                .map((line) => (
                  <AgendaLine key={line.run.key} {...line} from={range.from} />
                ))}
            </ul>
          </div>
        </>
      ))}
      {opened && <Popover {...opened} close={() => setQuery({ do: null }, { replace: true })} reload={reload} />}
    </div>
  );
}

function FrequentLine({ row }: { row: Row }) {
  const worst = worstOf(row.runs.map((run) => run.outcome)) as Outcome;
  const failed = row.runs.filter((run) => isBad(run.outcome)).length;
  const planned = row.runs.filter((run) => run.entry.status === null).length;
  const parts = [failed && `${count(failed)} failed`, plural(row.runs.length - planned, "run")];
  return (
    <li>
      <Link to={`/jobs/${row.job.job_id}`}>
        <span class={`hue-${hueOf(worst)}`}>
          <Icon name={iconOf(worst)} />
        </span>
        <span class="agenda-name">{row.name}</span>
        <span class="note">{parts.filter(Boolean).join(", ")}</span>
      </Link>
    </li>
  );
}

function AgendaLine({ row, run, from }: Line & { from: number }) {
  return (
    <li>
      <button type="button" data-key={run.key} onClick={() => setQuery({ do: run.key })}>
        <span class={`hue-${hueOf(run.outcome)}`}>
          <Icon name={iconOf(run.outcome)} />
        </span>
        <span class="agenda-name">{row.name}</span>
        <span class="note">{noteOf(run, from)}</span>
      </button>
    </li>
  );
}

function noteOf(run: Run, from: number): string {
  const { entry } = run;
  const due = run.at < from ? when(new Date(run.at)) : clock(new Date(run.at));
  if (isInDanger(run.outcome)) return `${due}, ${nameOfOutcome(run).toLowerCase()}`;
  if (entry.started_at && entry.ended_at) return `${due} to ${clock(new Date(entry.ended_at))}`;
  if (entry.median_end) return `${due} to about ${clock(new Date(entry.median_end))}`;
  return run.outcome === "scheduled" ? due : `${due}, ${nameOfOutcome(run).toLowerCase()}`;
}

function isFrequent(row: Row): boolean {
  return row.kind !== "bars" || row.runs.length >= OFTEN;
}

function linesOf(rows: Row[]): Line[] {
  const lines = rows.filter((row) => !isFrequent(row)).flatMap((row) => row.runs.map((run) => ({ row, run })));
  return lines.sort((one, other) => one.run.at - other.run.at);
}

/** The hour in which a run is due; the one before the day for what was due earlier. */
function hourOf(at: number, from: number): number {
  return from + Math.max(-1, Math.floor((at - from) / HOUR_MS)) * HOUR_MS;
}
