/** What happened, or will happen, at a mark of the calendar, and what can be done about it. */

import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { Icon } from "../../components/icon";
import { Link } from "../../components/link";
import { Mark } from "../../components/status";
import { Time, zonesOf } from "../../components/time";
import { plural } from "../../format/duration";
import { cityOf, clock, zone } from "../../format/time";
import { mayManage } from "../../state/me";
import { Backfill } from "./backfill";
import type { Cell, Row } from "./rows";
import { hueOf, iconOf, isRepairable, type Run } from "./runs";
import { cellInWords, nameOfOutcome, timesInWords } from "./words";

/** What a popover is about. */
export interface Opened {
  row: Row;
  run?: Run;
  cell?: Cell;
}

interface Props extends Opened {
  close: () => void;
  reload: () => void;
}

const GAP = 8;
const MOST_LISTED = 6;

export function Popover({ row, run, cell, close, reload }: Props) {
  const ref = useRef<HTMLDivElement>(null);
  const key = run?.key ?? cell?.key ?? "";
  useLayoutEffect(() => {
    const popover = ref.current;
    if (!popover) return undefined;
    const observer = new ResizeObserver(() => placeBeside(popover, key)); // the dry run makes it taller
    observer.observe(popover);
    placeBeside(popover, key);
    return () => observer.disconnect();
  }, [key]);
  useEffect(() => {
    ref.current?.focus({ preventScroll: true });
    const closeOutside = (event: PointerEvent) => {
      if (event.target instanceof Element && !event.target.closest(".calendar-popover, [data-key]")) close();
    };
    document.addEventListener("pointerdown", closeOutside);
    return () => document.removeEventListener("pointerdown", closeOutside);
  }, [key]);
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    close();
  };
  const runs = run ? [run] : (cell?.runs ?? []);
  const repairable = runs.filter((one) => isRepairable(one.outcome));
  const mayBackfill = repairable.length > 0 && !row.job.takes_messages && mayManage(row.job.owner);
  return (
    <div ref={ref} class="calendar-popover" role="dialog" aria-label={row.name} tabIndex={-1} onKeyDown={onKey}>
      <header>
        <Link to={`/jobs/${row.job.job_id}`} class="strong">
          {row.name}
        </Link>
        <button type="button" class="button is-plain is-icon" aria-label="Close" onClick={close}>
          <Icon name="close" />
        </button>
      </header>
      {run ? <RunDetails run={run} timezone={row.job.timezone} /> : cell && <CellDetails row={row} cell={cell} />}
      {mayBackfill ? (
        <Backfill row={row} chosen={repairable} done={reload}>
          {run && <OpenExecution run={run} />}
        </Backfill>
      ) : (
        run && <OpenExecution run={run} />
      )}
    </div>
  );
}

function OpenExecution({ run }: { run: Run }) {
  if (!run.entry.status) return null;
  return (
    <Link to={`/executions/${run.entry.execution_id}`} class="button">
      Open execution
    </Link>
  );
}

/** Whether the job's wall clock differs from the viewer's. */
function isElsewhere(timezone: string): boolean {
  return timezone !== zone.value;
}

function RunDetails({ run, timezone }: { run: Run; timezone: string }) {
  const { entry, others } = run;
  return (
    <>
      <p>
        <Mark hue={hueOf(run.outcome)} icon={iconOf(run.outcome)}>
          <b>{nameOfOutcome(run)}</b>
          {entry.origin && entry.origin !== "schedule" ? `, ${entry.origin}` : ""}
        </Mark>
      </p>
      <p title={zonesOf(new Date(entry.at), timezone)}>{sentence(timesInWords(entry))}</p>
      {isElsewhere(timezone) && (
        <p class="dim">
          Due {clock(new Date(entry.at), timezone)} {cityOf(timezone)}, {clock(new Date(entry.at), "UTC")} UTC.
        </p>
      )}
      {entry.deadline && (
        <p>
          Deadline <Time at={entry.deadline.at} jobZone={timezone} />.
        </p>
      )}
      {entry.p95_end && !entry.ended_at && (
        <p class="dim">
          In 95% of cases it ends by <Time at={entry.p95_end} jobZone={timezone} />.
        </p>
      )}
      {entry.flag && entry.status !== null && <p class="dim">The clock change has {entry.flag} it.</p>}
      {entry.reason && <p class="reason mono">{entry.reason}</p>}
      {others.length > 0 && (
        <p class="dim">
          {plural(others.length, "other try", "other tries")}:{" "}
          {others.map((one, position) => (
            <>
              {position > 0 && ", "}
              <Link key={one.execution_id} to={`/executions/${one.execution_id}`} class="underlined">
                {one.status}
              </Link>
            </>
          ))}
        </p>
      )}
    </>
  );
}

function CellDetails({ row, cell }: { row: Row; cell: Cell }) {
  const listed = [...cell.runs].sort(
    (one, other) => Number(isRepairable(other.outcome)) - Number(isRepairable(one.outcome)),
  );
  return (
    <>
      <p>{cellInWords(row, cell).slice(row.name.length + 2)}.</p>
      <ul>
        {listed.slice(0, MOST_LISTED).map((run) => (
          <li key={run.key}>
            <Mark hue={hueOf(run.outcome)} icon={iconOf(run.outcome)}>
              {run.entry.status ? (
                <Link to={`/executions/${run.entry.execution_id}`} class="underlined">
                  {nameOfOutcome(run)}, {timesInWords(run.entry).split(", ")[1]}
                </Link>
              ) : (
                `${nameOfOutcome(run)}, ${timesInWords(run.entry).split(", ")[1]}`
              )}
            </Mark>
          </li>
        ))}
      </ul>
      {cell.runs.length > MOST_LISTED && (
        <Link to={`/executions?job_id=${row.job.job_id}&from=${iso(cell.from)}&to=${iso(cell.to)}`} class="underlined">
          All {cell.runs.length}
        </Link>
      )}
    </>
  );
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function iso(at: number): string {
  return encodeURIComponent(new Date(at).toISOString());
}

/** Below the mark, or above it if there is more room. Narrow screens show a sheet instead. */
function placeBeside(popover: HTMLElement, key: string): void {
  const parent = popover.offsetParent;
  const mark = document.querySelector(`[data-key="${CSS.escape(key)}"]`);
  if (!parent || !mark || getComputedStyle(popover).position === "fixed") return;
  const within = parent.getBoundingClientRect();
  const at = mark.getBoundingClientRect();
  const left = Math.max(GAP, Math.min(at.left - within.left - 40, within.width - popover.offsetWidth - GAP));
  const isBelow = at.bottom + popover.offsetHeight + GAP < innerHeight || at.top < popover.offsetHeight + GAP + 48;
  const top = isBelow ? at.bottom - within.top + GAP : at.top - within.top - popover.offsetHeight - GAP;
  popover.style.setProperty("left", `${left}px`);
  popover.style.setProperty("top", `${top}px`);
}
