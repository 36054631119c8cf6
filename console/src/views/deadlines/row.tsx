import type { Execution } from "../../api/types";
import { Advice } from "../../components/advice";
import type { Axis } from "../../components/deadline-axis";
import { DeadlineBar } from "../../components/deadline-bar";
import { Link } from "../../components/link";
import { Steps } from "../../components/remedies/buttons";
import { stepsOfDeadline } from "../../components/remedies/steps";
import { DeadlineStatus, ExecutionStatus } from "../../components/status";
import { Time } from "../../components/time";
import { duration } from "../../format/duration";

export function DeadlineRow({ execution, axis }: { execution: Execution; axis: Axis }) {
  const { deadline } = execution;
  if (!deadline) return null;
  const address = `/executions/${execution.execution_id}`;
  const isInDanger = deadline.state !== "on_track";
  return (
    <li>
      <div class="deadline-row">
        <div>
          <Link to={address} class="name">
            {execution.job_name ?? execution.task}
          </Link>
          <span class="note between">
            <ExecutionStatus
              status={execution.status}
              detail={execution.progress ? `${Math.round(execution.progress.percent)}%` : undefined}
            />
          </span>
        </div>
        <div>
          <DeadlineStatus isOwnColumn state={deadline.state} probability={deadline.probability} />
          <span class="note">
            by <Time at={deadline.at} jobZone={execution.timezone} />
          </span>
        </div>
        <DeadlineBar isCompact deadline={deadline} startedAt={execution.started_at} axis={axis} />
        <div class="number">{slack(deadline)}</div>
      </div>
      {isInDanger && (
        <div class="deadline-more">
          <Advice cause={deadline.cause} remedy={deadline.remedy} />
          <div class="actions">
            <Steps steps={stepsOfDeadline(execution.execution_id, deadline.remedies)} owner={execution.owner} />
          </div>
        </div>
      )}
    </li>
  );
}

/** `+8 min`, `−47 min`: how long before its deadline it ends in 95% of the forecasts. */
function slack({ at, p95_end: end }: NonNullable<Execution["deadline"]>) {
  if (!end) return <span class="dim">Unknown</span>;
  const seconds = Math.round((Date.parse(at) - Date.parse(end)) / 1000);
  return <span class={seconds < 0 ? "hue-bad" : undefined}>{`${seconds >= 0 ? "+" : ""}${duration(seconds)}`}</span>;
}
