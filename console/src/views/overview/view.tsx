/** Is everything all right, and if not, what to do. */

import { useEffect } from "preact/hooks";
import type { Overview, Summary } from "../../api/types";
import { Loaded } from "../../components/states";
import { Mark } from "../../components/status";
import { count, duration, plural } from "../../format/duration";
import { dangers } from "../../state/dangers";
import { useResource } from "../../state/resource";
import { useTitle } from "../../state/title";
import { AttentionList } from "./attention";
import { AlarmCard, DueCard, LaneCard, LateCard, QueueCard } from "./cards";
import { DelayChart } from "./delay-chart";
import { EndedChart } from "./ended-chart";

const DAY_MS = 86_400_000;
const QUARTER_MS = 900_000;

export function OverviewView() {
  useTitle("Overview");
  const overview = useResource<Overview>("/overview");
  const until = Math.ceil(Date.now() / QUARTER_MS) * QUARTER_MS;
  const range = `from=${text(until - DAY_MS)}&to=${text(until)}`;
  const summary = useResource<Summary>(`/executions/summary?bucket=quarter_hour&by=status&${range}`);
  const { data: current } = overview;
  useEffect(() => {
    if (current) dangers.value = dangersOf(current);
  }, [current]);
  return (
    <Loaded what="Overview" of={overview}>
      {(data) => (
        <div class="stack">
          <Verdict overview={data} />
          <AttentionList items={data.attention} queues={data.queues} reload={overview.reload} />
          <Figures overview={data} summary={summary.data} />
          <div class="columns">
            <div class="stack">
              <Loaded what="Ended executions" of={summary}>
                {(buckets) => (
                  <>
                    <DelayChart buckets={buckets.items} />
                    <EndedChart buckets={buckets.items} />
                  </>
                )}
              </Loaded>
              <DueCard executions={data.due_next} />
              <LateCard late={data.late} />
            </div>
            <aside class="stack">
              <QueueCard queues={data.queues} />
              <LaneCard slots={data.slots} />
              <AlarmCard alarms={data.alarms} />
            </aside>
          </div>
        </div>
      )}
    </Loaded>
  );
}

function text(at: number): string {
  return new Date(at).toISOString();
}

function dangersOf({ attention, deadlines, queues }: Overview): typeof dangers.value {
  return {
    attention: attention.filter((one) => one.acknowledgement === null).length,
    deadlines: deadlines.at_risk + deadlines.will_miss + deadlines.missed_live,
    queues: queues.filter((one) => one.minutes_until_breach !== null).length,
  };
}

function Verdict({ overview }: { overview: Overview }) {
  const { attention } = dangers.value;
  const { deadlines } = overview;
  return (
    <header class="verdict-head">
      <h1>
        <Mark hue={attention ? "warn" : "ok"} icon={attention ? "at_risk" : "succeeded"}>
          {attention ? `${plural(attention, "thing")} ${attention === 1 ? "needs" : "need"} you` : "All right"}
        </Mark>
      </h1>
      <p class="dim">
        {deadlines.on_track
          ? `${plural(deadlines.on_track, "deadline")} on track`
          : "No live execution with a deadline is on track"}
        .
      </p>
    </header>
  );
}

function Figures({ overview, summary }: { overview: Overview; summary: Summary | null }) {
  const { running, lateness_p99_seconds: lateness, late, slots, deadlines } = overview;
  const total = (status: string) => (summary?.items ?? []).reduce((sum, one) => sum + (one.counts[status] ?? 0), 0);
  const failed = total("failed") + total("timed_out");
  return (
    <dl class="card figures">
      <Figure
        title="Running now"
        value={`${count(running)}${overview.running_is_exact ? "" : "+"}`}
        note={`${slots.taken_tasks} in the long lane`}
      />
      <Figure
        title="Late to start"
        value={count(late.items.length)}
        note={lateness === null ? "none measured" : `P99 ${duration(lateness)} in the last minute`}
      />
      <Figure
        title="Failed, 24 h"
        value={summary ? count(failed) : "–"}
        note={`${count(total("succeeded"))} succeeded`}
      />
      <Figure
        title="Deadlines"
        value={count(deadlines.on_track + deadlines.at_risk + deadlines.will_miss + deadlines.missed_live)}
        note={`${deadlines.at_risk} at risk, ${deadlines.will_miss + deadlines.missed_live} missed or lost`}
      />
    </dl>
  );
}

function Figure({ title, value, note }: { title: string; value: string; note: string }) {
  return (
    <div>
      <dt class="note">{title}</dt>
      <dd>
        <span class="value">{value}</span>
        <span class="note">{note}</span>
      </dd>
    </div>
  );
}
