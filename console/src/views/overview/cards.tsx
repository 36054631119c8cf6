import type { AttentionItem, Overview, Queue } from "../../api/types";
import { Gauge } from "../../components/gauge";
import { Icon } from "../../components/icon";
import { Link } from "../../components/link";
import { Time } from "../../components/time";
import { count, plural } from "../../format/duration";
import { alarmTitle } from "./alarm-title";

const MOST_SLOTS = 64;

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
              <span class="dim">{waiting(queue)}</span>
            </p>
            {queue.depth !== 0 && <Gauge queue={queue} />}
          </li>
        ))}
      </ul>
    </section>
  );
}

function waiting({ depth }: Queue): string {
  if (depth === null) return "Unknown";
  return depth === 0 ? "None waits" : `${count(depth)} wait`;
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

/** Alarms that the list above does not show, because a person has acknowledged them. */
export function AlarmCard({ alarms, listed }: { alarms: Overview["alarms"]; listed: AttentionItem[] }) {
  if (alarms === null) return <Unreadable />;
  const open = new Set(listed.filter((one) => one.acknowledgement === null).map((one) => one.subject.id));
  const others = alarms.filter((alarm) => !open.has(alarm.name));
  if (others.length === 0) return null;
  return (
    <section class="card">
      <header>
        <h2>Alarms</h2>
        <span class="note">acknowledged</span>
      </header>
      <ul class="list-rows">
        {others.map((alarm) => (
          <li key={alarm.name}>
            <span class="mark">
              <Icon name="bell" />
              <span>{alarmTitle(alarm.name)}</span>
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

function Unreadable() {
  return (
    <section class="card">
      <header>
        <h2>Alarms</h2>
      </header>
      <p class="body dim">Unknown: CloudWatch does not answer.</p>
    </section>
  );
}
