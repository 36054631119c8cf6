/** Lists of executions on the overview: due next, late to start, failed today. */

import type { DueExecution, Overview } from "../../api/types";
import { Icon, type IconName } from "../../components/icon";
import { Link } from "../../components/link";
import { DeadlineStatus, words } from "../../components/status";
import { Relative, Time } from "../../components/time";
import { count, plural } from "../../format/duration";
import { withoutIds } from "../../format/ids";
import { sentence } from "../../format/text";

const MOST_DUE = 10;
const MOST_LATE = 10;
const MOST_FAILED = 5;

export function DueCard({ executions }: { executions: DueExecution[] }) {
  return (
    <section class="card">
      <header>
        <h2>Due next</h2>
        <Link to="/executions?status=scheduled,queued,waiting">All that wait</Link>
      </header>
      {executions.length === 0 ? (
        <p class="body dim">Nothing is planned.</p>
      ) : (
        <table class="table is-compact due-next" aria-label="Due next">
          <thead>
            <tr>
              <th scope="col">Job</th>
              <th scope="col">Due</th>
              <th scope="col" class="number">
                In
              </th>
              <th scope="col" class="narrow-hidden">
                Forecast end
              </th>
              <th scope="col" class="narrow-hidden">
                Deadline
              </th>
            </tr>
          </thead>
          <tbody>
            {executions.slice(0, MOST_DUE).map((one) => (
              <tr key={one.execution_id}>
                <td>
                  <Link to={`/executions/${one.execution_id}`} class="name">
                    {one.job_name ?? one.task}
                  </Link>
                </td>
                <td>
                  <Time at={one.scheduled_at} jobZone={one.timezone} />
                </td>
                <td class="number dim">
                  <Relative at={one.scheduled_at} />
                </td>
                <td class="narrow-hidden">
                  {one.deadline ? (
                    <Time at={one.deadline.median_end} jobZone={one.timezone} none="Unknown" />
                  ) : (
                    <span class="dim">–</span>
                  )}
                </td>
                <td class="narrow-hidden">
                  {one.deadline ? (
                    <span class="deadline-cell">
                      <DeadlineStatus isOwnColumn state={one.deadline.state} />
                      <span class="dim">
                        <Time at={one.deadline.at} jobZone={one.timezone} />
                      </span>
                    </span>
                  ) : (
                    <span class="dim">None</span>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

/** Executions that have not started a minute after they could. Shown only if there are some. */
export function LateCard({ late }: { late: Overview["late"] }) {
  if (late.items.length === 0) return null;
  return (
    <section class="card">
      <header>
        <h2>Late to start</h2>
        <span class="note">{plural(late.items.length, "execution")}, the oldest first</span>
      </header>
      <ul class="list-rows">
        {late.items.slice(0, MOST_LATE).map((one) => (
          <li key={one.execution_id}>
            <Link to={`/executions/${one.execution_id}`} class="name">
              {one.job_name ?? one.task}
            </Link>
            <span class="dim">
              due <Time at={one.scheduled_at} jobZone={one.timezone} />
            </span>
            {one.reason && <span class="note">{sentence(withoutIds(one.reason))}</span>}
          </li>
        ))}
      </ul>
    </section>
  );
}

type Failure = Overview["failed_today"]["items"][number];

/** The latest failure of each job, and how many of those listed it has. */
function byJob(items: Failure[]): { latest: Failure; number: number }[] {
  const jobs = new Map<string, { latest: Failure; number: number }>();
  for (const one of items)
    jobs.set(one.job_id, {
      latest: jobs.get(one.job_id)?.latest ?? one,
      number: (jobs.get(one.job_id)?.number ?? 0) + 1,
    });
  return [...jobs.values()].slice(0, MOST_FAILED);
}

export function FailedCard({ failed }: { failed: Overview["failed_today"] }) {
  return (
    <section class="card">
      <header>
        <h2>Failed today</h2>
        <Link to={`/executions?status=failed,timed_out&from=${failed.since}`}>
          {failed.count > MOST_FAILED ? `All ${count(failed.count)}` : "Open list"}
        </Link>
      </header>
      {failed.items.length === 0 ? (
        <p class="body dim">None.</p>
      ) : (
        <ul class="list-rows failed-rows">
          {byJob(failed.items).map(({ latest: one, number }) => (
            <li key={one.execution_id}>
              <Icon name={one.status as IconName} class="hue-bad" label={words(one.status)} />
              <span>
                <Link to={`/executions/${one.execution_id}`} class="name">
                  {one.job_name ?? one.task}
                </Link>
                {number > 1 && (
                  <span class="dim" title="Of the latest failures">
                    {" "}
                    {count(number)} times
                  </span>
                )}
              </span>
              <span class="dim">
                <Time at={one.ended_at ?? one.scheduled_at} jobZone={one.timezone} />
              </span>
              {one.reason && <span class="note reason">{sentence(withoutIds(one.reason))}</span>}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
