/** What ended on each day of the last 53 weeks. Days that went wrong have a glyph, not only a colour. */

import { useState } from "preact/hooks";
import type { Job } from "../../api/types";
import { Link } from "../../components/link";
import { withQuery } from "../../router";
import { now } from "../../state/clock";
import { mayManage } from "../../state/me";
import { type Day, inWords, type Statistics, weeksOf } from "./days";

const CELL = 12;
const STEP = 15;
const TOP = 16;
const GLYPHS: Partial<Record<Day["outcome"], string>> = {
  failed: "M3 3l6 6M9 3l-6 6",
  partly: "M6 2.5v4.5M6 9v.5",
  other: "M3.5 6h5",
};
const STEPS: Record<string, number> = { ArrowLeft: -7, ArrowRight: 7, ArrowUp: -1, ArrowDown: 1 };

export function HeatMap({ job, statistics }: { job: Job; statistics: Statistics }) {
  const today = now.value.toISOString().slice(0, 10);
  const weeks = weeksOf(statistics, new Date(today));
  const days = weeks.flat();
  const [chosen, choose] = useState(today);
  const current = days.find((one) => one.day === chosen) ?? days.at(-1);
  const onKey = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = days[days.findIndex((one) => one.day === current?.day) + step];
    if (next) choose(next.day);
  };
  return (
    <section class="card">
      <header>
        <h2>Outcomes</h2>
        <span class="note">by day, 53 weeks, UTC</span>
        <Legend />
      </header>
      <div class="body heat-map">
        <div
          class="scroll"
          role="slider"
          aria-label="Day"
          aria-valuemin={0}
          aria-valuemax={days.length - 1}
          aria-valuenow={current ? days.indexOf(current) : 0}
          aria-valuetext={current && `${current.day}: ${inWords(current)}`}
          tabIndex={0}
          onKeyDown={onKey}
        >
          <svg width={weeks.length * STEP} height={TOP + 7 * STEP} aria-hidden="true">
            <Months weeks={weeks} />
            {weeks.map((week, column) =>
              week.map((one, row) => (
                // biome-ignore lint/a11y/noStaticElementInteractions: the keys belong to the slider
                <g
                  key={one.day}
                  transform={`translate(${column * STEP} ${TOP + row * STEP})`}
                  class={`day is-${one.outcome} ${one.day === current?.day ? "is-chosen" : ""}`}
                  onClick={() => choose(one.day)}
                >
                  <title>{`${one.day}: ${inWords(one)}`}</title>
                  <rect width={CELL} height={CELL} rx="2" />
                  {GLYPHS[one.outcome] && <path d={GLYPHS[one.outcome]} />}
                </g>
              )),
            )}
          </svg>
        </div>
        {current && <Chosen job={job} day={current} />}
      </div>
    </section>
  );
}

function Chosen({ job, day }: { job: Job; day: Day }) {
  const canBackfill = mayManage(job.owner) && job.schedule && !job.schedule.queue && job.state === "active";
  return (
    <p class="chips" role="status">
      <b>{day.day}</b>
      <span>{inWords(day)}</span>
      {day.statistics && (
        <Link
          to={`/executions?job_id=${job.job_id}&from=${day.day}T00:00:00Z&to=${day.day}T23:59:59.999Z`}
          class="button"
        >
          Show executions
        </Link>
      )}
      {canBackfill && day.outcome !== "succeeded" && (
        <Link to={withQuery({ do: "backfill", day: day.day })} class="button">
          Backfill…
        </Link>
      )}
    </p>
  );
}

/** The name of a month above the first week that begins in it. */
function Months({ weeks }: { weeks: Day[][] }) {
  const months = weeks.map((week) => week[0]?.day.slice(0, 7));
  return (
    <>
      {months.map((month, column) =>
        month && month !== months[column - 1] && column > 0 ? (
          <text key={month} x={column * STEP} y="10" class="note-text">
            {new Date(`${month}-01`).toLocaleDateString("en-GB", { month: "short", timeZone: "UTC" })}
          </text>
        ) : null,
      )}
    </>
  );
}

function Legend() {
  return (
    <span class="legend aside note">
      <i class="fill-ok" /> Succeeded <i class="fill-warn" /> Some failed <i class="fill-bad" /> Failed{" "}
      <i class="is-unknown" /> Unknown
    </span>
  );
}
