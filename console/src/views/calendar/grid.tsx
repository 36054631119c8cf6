/** A day or a week: slots of the long lane, and a row per job. Arrows move between the marks, Enter opens one. */

import { useEffect, useMemo, useRef } from "preact/hooks";
import { Link } from "../../components/link";
import { type Day, dayOf } from "../../format/days";
import { clock, zone } from "../../format/time";
import { place, setQuery } from "../../router";
import { backfillOf } from "./backfill-day";
import { brokenOn } from "./broken";
import { moveFocus } from "./focus";
import { Hatches, Legend } from "./legend";
import { Marks } from "./marks";
import { type Opened, Popover } from "./popover";
import { type Scale, scaleOf } from "./range";
import { cellsOf, type Row, rowsOf } from "./rows";
import { countByDay, runsOf } from "./runs";
import { Slots } from "./slots";
import type { SpanProps } from "./view";
import { useWidth } from "./width";
import { alarmOfDay, volumeOfColumn } from "./words";

const LANES = [
  { lane: "long", title: "Long lane" },
  { lane: "short", title: "Short lane" },
] as const;
const ROW = 32;

export function Grid({ range, jobs, data, now, reload }: SpanProps) {
  const columns = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const width = useWidth(columns);
  const scale = useMemo(() => scaleOf(range.columns, width), [range, width]);
  const rows = useMemo(() => (width ? rowsOf(jobs, scale) : []), [jobs, scale, width]);
  const opened = openedOf(rows, range.from);
  const close = () => {
    const key = place.value.query.get("do");
    setQuery({ do: null }, { replace: true });
    if (key) body.current?.querySelector<SVGElement>(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
  };
  useEffect(() => {
    if (!body.current?.querySelector('[data-key][tabindex="0"]'))
      body.current?.querySelector("[data-key]")?.setAttribute("tabindex", "0");
  });
  return (
    <div class="calendar-body">
      <Hatches />
      <Lines columns={range.columns.length} today={todayColumn(range.columns, now)} scale={scale} />
      <div class="calendar-row calendar-head">
        <div class="calendar-name" />
        <div class="calendar-columns" ref={columns}>
          <Heads range={range} jobs={jobs} />
        </div>
      </div>
      {data.long_lane && <Slots lane={data.long_lane} jobs={jobs} range={range} scale={scale} now={now} />}
      {/* biome-ignore lint/a11y/useSemanticElements: a grid of marks within SVG is no table */}
      <div
        ref={body}
        role="grid"
        aria-label={`Runs, ${range.title}`}
        tabIndex={-1}
        onClick={openMark}
        onFocusIn={takeTabStop}
        onKeyDown={(event) => onKey(event, body.current)}
      >
        {LANES.map(({ lane, title }) => {
          const shown = rows.filter((row) => row.job.lane === lane);
          return (
            shown.length > 0 && (
              // biome-ignore lint/a11y/useSemanticElements: as above
              <div role="rowgroup" key={lane}>
                {/* biome-ignore lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive: a heading */}
                <div role="row" class="calendar-section">
                  {/* biome-ignore lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive: a heading */}
                  <span role="rowheader">{title}</span>
                </div>
                {shown.map((row) => (
                  <GridRow key={row.job.job_id} row={row} scale={scale} now={now} from={range.from} to={range.to} />
                ))}
              </div>
            )
          );
        })}
      </div>
      <NowLine scale={scale} now={now} range={range} />
      <Legend />
      {opened && <Popover {...opened} close={close} reload={reload} />}
    </div>
  );
}

function GridRow({ row, scale, now, from, to }: { row: Row; scale: Scale; now: number; from: number; to: number }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive: a row of the grid; its marks take the focus
    <div role="row" class="calendar-row">
      {/* biome-ignore lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive: as above */}
      <div role="rowheader" class="calendar-name">
        <Link to={`/jobs/${row.job.job_id}`} title={`${row.name}, ${row.job.owner}`}>
          {row.name}
        </Link>
      </div>
      <svg class="calendar-track" role="presentation" width={scale.width} height={ROW}>
        <Marks row={row} scale={scale} now={now} from={from} to={to} />
      </svg>
    </div>
  );
}

function Heads({ range, jobs }: Pick<SpanProps, "range" | "jobs">) {
  const counts = useMemo(() => countByDay(jobs.flatMap(runsOf), zone.value), [jobs, zone.value]);
  const broken = useMemo(
    () => new Set([...range.columns.keys()].filter((at) => hasBroken(jobs, range.columns[at]))),
    [jobs, range],
  );
  return (
    <>
      {range.columns.map((column, position) => {
        const found = range.span === "week" ? counts.get(range.days[position] ?? "") : undefined;
        const alarm = alarmOfDay(found);
        return (
          <div key={column.from}>
            <span class="strong">{column.title}</span>
            {alarm && <Alarm alarm={alarm} day={range.days[position] ?? ""} mayBackfill={broken.has(position)} />}
            {range.span === "week" && <span class="note">{volumeOfColumn(found)}</span>}
          </div>
        );
      })}
    </>
  );
}

function hasBroken(jobs: SpanProps["jobs"], column: { from: number; to: number } | undefined): boolean {
  return column !== undefined && brokenOn(jobs, column.from, column.to).length > 0;
}

interface AlarmProps {
  alarm: NonNullable<ReturnType<typeof alarmOfDay>>;
  day: Day;
  mayBackfill: boolean;
}

/** The missed and failed runs of a day that need attention: a click backfills it. */
function Alarm({ alarm, day, mayBackfill }: AlarmProps) {
  const name = `aside hue-${alarm.hue}`;
  if (!mayBackfill) return <span class={name}>{alarm.text}</span>;
  return (
    <Link to={backfillOf(day)} class={`${name} underlined`} title="Run them again, with a dry run first">
      {alarm.text}
    </Link>
  );
}

/** The edges of the columns, and the ground of today, behind the rows. */
function Lines({ columns, today, scale }: { columns: number; today: number; scale: Scale }) {
  const step = scale.width / Math.max(1, columns);
  return (
    <svg class="calendar-lines" aria-hidden="true" width={scale.width} height="100%">
      {today >= 0 && <rect x={today * step} width={step} height="100%" class="today" />}
      {Array.from({ length: columns }, (_, position) => (
        <line key={position} x1={position * step + 0.5} x2={position * step + 0.5} y1="0" y2="100%" />
      ))}
    </svg>
  );
}

function NowLine({ scale, now, range }: { scale: Scale; now: number; range: SpanProps["range"] }) {
  if (now < range.from || now >= range.to) return null;
  const x = scale.x(now);
  const badge = Math.max(20, Math.min(scale.width - 20, x));
  return (
    <svg class="calendar-lines is-front" aria-hidden="true" width={scale.width} height="100%">
      <line x1={x} x2={x} y1="44" y2="100%" class="now" />
      <rect x={badge - 20} y="36" width="40" height="16" rx="4" class="now-ground" />
      <text x={badge} y="48" text-anchor="middle" class="now-text">
        {clock(new Date(now))}
      </text>
    </svg>
  );
}

function todayColumn(columns: SpanProps["range"]["columns"], now: number): number {
  if (columns.length > 7) return -1; // the hours of a day
  return columns.findIndex((column) => dayOf(column.from, zone.value) === dayOf(now, zone.value));
}

function openedOf(rows: Row[], from: number): Opened | null {
  const key = place.value.query.get("do");
  const row = key ? rows.find((one) => key.startsWith(`${one.job.job_id}~`)) : undefined;
  if (!row) return null;
  const run = row.runs.find((one) => one.key === key);
  if (run) return { row, run };
  const cell = cellsOf(row, from).find((one) => one.key === key);
  return cell ? { row, cell } : null;
}

function openMark(event: MouseEvent): void {
  const mark = event.target instanceof Element ? event.target.closest("[data-key]") : null;
  if (mark) setQuery({ do: mark.getAttribute("data-key") }, { replace: place.value.query.has("do") });
}

function takeTabStop(event: FocusEvent): void {
  const grid = event.currentTarget as HTMLElement;
  if (!(event.target instanceof Element) || !event.target.hasAttribute("data-key")) return;
  for (const one of grid.querySelectorAll('[data-key][tabindex="0"]')) one.setAttribute("tabindex", "-1");
  event.target.setAttribute("tabindex", "0");
}

function onKey(event: KeyboardEvent, body: HTMLElement | null): void {
  const mark = document.activeElement?.closest("[data-key]");
  if (!mark || !body) return;
  if (event.key === "Enter" || event.key === " ") setQuery({ do: mark.getAttribute("data-key") });
  else if (!moveFocus(event.key, mark, body)) return;
  event.preventDefault();
}
