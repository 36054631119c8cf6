/** What needs a person: cause, remedy, and the button for it. */

import { send } from "../../api/client";
import type { AttentionItem, Queue } from "../../api/types";
import { DeadlineBar } from "../../components/deadline-bar";
import { Gauge } from "../../components/gauge";
import { Link } from "../../components/link";
import { Badge, DeadlineStatus, words } from "../../components/status";
import { Relative } from "../../components/time";
import { complain, say } from "../../components/toasts";
import { mayOperate } from "../../state/me";

const SNOOZE_MS = 8 * 3_600_000;
const ADDRESSES: Record<string, (id: string) => string> = {
  job: (id) => `/jobs/${id}`,
  execution: (id) => `/executions/${id}`,
  queue: () => "/queues",
};

interface Props {
  items: AttentionItem[];
  queues: Queue[];
  reload: () => void;
}

export function AttentionList({ items, queues, reload }: Props) {
  const open = items.filter((one) => one.acknowledgement === null);
  if (open.length === 0) return null;
  return (
    <ul class="card rows" aria-label="What needs you">
      {open.map((item) => (
        <li key={item.id} class="endangered">
          <div>
            <h2 class="chips">
              <span class="strong">{item.subject.name ?? item.subject.id}</span>
              {item.deadline ? (
                <DeadlineStatus state={item.deadline.state} probability={item.deadline.probability} />
              ) : (
                <Badge hue="warn" icon="at_risk">
                  {words(item.kind)}
                </Badge>
              )}
            </h2>
            <p class="facts">
              {item.subject.owner && <span>{item.subject.owner}</span>}
              {item.since && (
                <span>
                  since <Relative at={item.since} />
                </span>
              )}
            </p>
            {item.deadline && <DeadlineBar deadline={item.deadline} />}
            {item.subject.type === "queue" && (
              <QueueGauge queue={queues.find((one) => one.queue === item.subject.id)} />
            )}
          </div>
          <div>
            <dl class="advice">
              <dt>Cause</dt>
              <dd>{item.cause}</dd>
              {item.remedy && (
                <>
                  <dt>What helps</dt>
                  <dd>{item.remedy}</dd>
                </>
              )}
            </dl>
            <div class="actions">
              <Open item={item} />
              {mayOperate.value && (
                <button type="button" class="button" onClick={() => snooze(item, reload)}>
                  Snooze for 8 h
                </button>
              )}
            </div>
          </div>
        </li>
      ))}
    </ul>
  );
}

function QueueGauge({ queue }: { queue: Queue | undefined }) {
  return queue ? <Gauge queue={queue} /> : null;
}

function Open({ item }: { item: AttentionItem }) {
  const address = ADDRESSES[item.subject.type];
  if (!address) return null;
  return (
    <Link to={address(item.subject.id)} class="button is-main">
      Open
    </Link>
  );
}

async function snooze(item: AttentionItem, reload: () => void): Promise<void> {
  try {
    const until = new Date(Date.now() + SNOOZE_MS).toISOString();
    await send("PUT", `/attention/${encodeURIComponent(item.id)}`, { state: "snoozed", until });
    say("Snoozed for 8 hours");
    reload();
  } catch (error) {
    complain(error);
  }
}
