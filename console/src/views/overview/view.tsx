/** Is everything all right, and if not, what to do. */

import { useEffect } from "preact/hooks";
import type { Overview, Summary } from "../../api/types";
import { Icon } from "../../components/icon";
import { Link } from "../../components/link";
import { Loaded } from "../../components/states";
import { Time } from "../../components/time";
import { dangers } from "../../state/dangers";
import { useResource } from "../../state/resource";
import { useTitle } from "../../state/title";
import { AttentionList } from "./attention";
import { AlarmCard, LaneCard, QueueCard } from "./cards";
import { DelayChart } from "./delay-chart";
import { EndedChart } from "./ended-chart";
import { DueCard, FailedCard, LateCard } from "./executions";
import { Figures } from "./figures";
import { dangersOf, deadlinesOnTrack, nextDeadline, succeeded, verdict } from "./verdict";

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
          <Verdict overview={data} summary={summary.data} />
          <AttentionList items={data.attention} queues={data.queues} reload={overview.reload} />
          <Figures overview={data} />
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
              <FailedCard failed={data.failed_today} />
              <AlarmCard alarms={data.alarms} listed={data.attention} />
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

function Verdict({ overview, summary }: { overview: Overview; summary: Summary | null }) {
  const found = dangersOf(overview);
  const isBad = found.attention > 0;
  const next = nextDeadline(overview);
  return (
    <header class="verdict-head">
      <h1>
        <Icon name={isBad ? "at_risk" : "succeeded"} class={isBad ? "hue-warn" : "hue-ok"} />
        {verdict(found)}
      </h1>
      <p class="dim">
        {!isBad && next && (
          <>
            Next deadline:{" "}
            <Link to={`/executions/${next.execution_id}`} class="underlined">
              {next.job_name ?? next.task}
            </Link>{" "}
            at <Time at={next.deadline.at} jobZone={next.timezone} />, {next.deadline.state.replaceAll("_", " ")}.{" "}
          </>
        )}
        {deadlinesOnTrack(overview, found)} {succeeded(summary)}
      </p>
    </header>
  );
}
