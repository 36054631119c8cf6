import type { DueExecution, Overview, Queue } from "../../api/types";
import { Gauge } from "../../components/gauge";
import { Icon } from "../../components/icon";
import { Link } from "../../components/link";
import { Relative, Time } from "../../components/time";
import { count, plural } from "../../format/duration";

const MOST_SLOTS = 64;
const MOST_LATE = 10;

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
        <table class="table is-compact is-cards" aria-label="Due next">
          <tbody>
            {executions.map((one) => (
              <tr key={one.execution_id}>
                <td>
                  <Link to={`/executions/${one.execution_id}`} class="name">
                    {one.job_name ?? one.task}
                  </Link>
                </td>
                <td>
                  <Time at={one.scheduled_at} />
                </td>
                <td class="number dim">
                  <Relative at={one.scheduled_at} />
                </td>
                <td>
                  {one.deadline ? (
                    <>
                      by <Time at={one.deadline.at} />
                    </>
                  ) : (
                    <span class="dim">no deadline</span>
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
              due <Time at={one.scheduled_at} />
            </span>
            {one.reason && <span class="note">{one.reason}</span>}
          </li>
        ))}
      </ul>
    </section>
  );
}

export function QueueCard({ queues }: { queues: Queue[] }) {
  return (
    <section class="card">
      <header>
        <h2>Queues</h2>
        <Link to="/queues">All queues</Link>
      </header>
      <ul class="body stack-small">
        {queues.map((queue) => (
          <li key={queue.queue}>
            <p class="between">
              <b>{queue.queue}</b>
              <span class="dim">{queue.depth === null ? "unknown" : `${count(queue.depth)} wait`}</span>
            </p>
            <Gauge queue={queue} />
          </li>
        ))}
      </ul>
    </section>
  );
}

export function LaneCard({ slots }: { slots: Overview["slots"] }) {
  const cells = Array.from(
    { length: Math.min(slots.tasks, MOST_SLOTS) },
    (_, position) => position < slots.taken_tasks,
  );
  return (
    <section class="card">
      <header>
        <h2>Long lane</h2>
        <Link to="/lane">Open lane</Link>
      </header>
      <div class="body">
        <div class="slots" role="img" aria-label={`${slots.taken_tasks} of ${slots.tasks} slots are taken`}>
          {cells.map((isTaken, position) => (
            <i key={position} class={isTaken ? "is-taken" : undefined} />
          ))}
        </div>
        <p class="note">
          {slots.taken_tasks} of {slots.tasks} slots, {slots.taken_vcpus} of {slots.vcpus} vCPU.{" "}
          {slots.waiting_tasks ? `${plural(slots.waiting_tasks, "part")} wait.` : "No part waits."}
        </p>
      </div>
    </section>
  );
}

export function AlarmCard({ alarms }: { alarms: Overview["alarms"] }) {
  if (!alarms?.length) return null;
  return (
    <section class="card">
      <header>
        <h2>Alarms</h2>
      </header>
      <ul class="list-rows">
        {alarms.map((alarm) => (
          <li key={alarm.name}>
            <span class="mark hue-warn">
              <Icon name="bell" />
              <span>{alarm.name}</span>
            </span>
            <span class="dim">
              since <Time at={alarm.since} />
            </span>
            <span class="note">{alarm.description}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
