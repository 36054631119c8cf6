/** Live executions with a deadline, the most endangered first, with cause and remedy. */

import type { Execution } from "../../api/types";
import { DeadlineBar } from "../../components/deadline-bar";
import { Filters } from "../../components/filters";
import { Link } from "../../components/link";
import { Empty, Loaded } from "../../components/states";
import { DeadlineStatus, ExecutionStatus } from "../../components/status";
import { Time } from "../../components/time";
import { place } from "../../router";
import { useList, withParameters } from "../../state/list";
import { useTitle } from "../../state/title";

const STATES = ["missed", "will_miss", "at_risk", "on_track"] as const;

export function DeadlinesView() {
  useTitle("Deadlines");
  const path = withParameters("/deadlines", { state: place.value.query.get("state"), limit: "50" });
  const list = useList<Execution>(path, (one) => one.execution_id);
  return (
    <>
      <h1 class="visually-hidden">Deadlines</h1>
      <Filters filters={[{ name: "state", title: "State", options: STATES }]} />
      <Loaded what="Deadlines" of={list}>
        {() =>
          list.items.length === 0 ? (
            <Empty title="No live execution has a deadline">
              <p>Give a job a deadline, and this page says in time whether it may be missed.</p>
            </Empty>
          ) : (
            <ul class="stack">
              {list.items.map((execution) => (
                <li key={execution.execution_id} class="card">
                  <EndangeredExecution execution={execution} />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      {list.hasMore && (
        <p class="more">
          <button type="button" class="button" onClick={list.loadMore}>
            Load more
          </button>
        </p>
      )}
    </>
  );
}

export function EndangeredExecution({ execution }: { execution: Execution }) {
  const { deadline } = execution;
  if (!deadline) return null;
  return (
    <div class="endangered">
      <div>
        <h2 class="chips">
          <Link to={`/executions/${execution.execution_id}`} class="strong">
            {execution.job_name ?? execution.task}
          </Link>
          <DeadlineStatus state={deadline.state} probability={deadline.probability} />
        </h2>
        <p class="facts">
          <ExecutionStatus
            status={execution.status}
            detail={execution.progress ? `${Math.round(execution.progress.percent)}%` : undefined}
          />
          <span>
            due <Time at={execution.scheduled_at} />
          </span>
          <span>
            deadline <Time at={deadline.at} />
          </span>
        </p>
        <DeadlineBar deadline={deadline} startedAt={execution.started_at} />
      </div>
      {(deadline.cause || deadline.remedy) && (
        <dl class="advice">
          {deadline.cause && (
            <>
              <dt>Cause</dt>
              <dd>{deadline.cause}</dd>
            </>
          )}
          {deadline.remedy && (
            <>
              <dt>What helps</dt>
              <dd>{deadline.remedy}</dd>
            </>
          )}
        </dl>
      )}
    </div>
  );
}
