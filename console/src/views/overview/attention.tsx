/** The items that need attention: cause, remedy, and the button for it. */

import { send } from "../../api/client";
import type { AttentionItem, Queue } from "../../api/types";
import { Advice } from "../../components/advice";
import { DeadlineBar } from "../../components/deadline-bar";
import { Gauge } from "../../components/gauge";
import { Steps } from "../../components/remedies/buttons";
import { RemedyDialog } from "../../components/remedies/dialog";
import { Badge, DeadlineStatus, words } from "../../components/status";
import { Time } from "../../components/time";
import { complain, say } from "../../components/toasts";
import { sentence } from "../../format/text";
import { mayManage, mayOperate } from "../../state/me";
import { alarmTitle } from "./alarm-title";
import { stepsOfItem } from "./steps";

const SNOOZE_MS = 8 * 3_600_000;

interface Props {
  items: AttentionItem[];
  queues: Queue[];
  reload: () => void;
}

export function AttentionList({ items, queues, reload }: Props) {
  const open = items.filter((one) => one.acknowledgement === null);
  const names = new Map(items.map(({ subject }) => [subject.id, subject.job_name ?? subject.id]));
  if (open.length === 0) return null;
  return (
    <>
      <ul class="card rows" aria-label="What needs you">
        {open.map((item, position) => (
          <li key={item.id} class={`endangered${hasEvidence(item) ? "" : " is-compact"}`}>
            <div>
              <h2 class="chips">
                <span class="strong">{titleOf(item)}</span>
                {item.deadline ? (
                  <DeadlineStatus state={item.deadline.state} probability={item.deadline.probability} />
                ) : (
                  <Badge hue="warn" icon={item.kind === "alarm" ? "bell" : "at_risk"}>
                    {words(item.kind)}
                  </Badge>
                )}
              </h2>
              <p class="facts">
                {item.subject.owner && <span>{item.subject.owner}</span>}
                {item.since && (
                  <span>
                    since <Time at={item.since} jobZone={item.subject.timezone ?? undefined} />
                  </span>
                )}
              </p>
              {!hasEvidence(item) && <p>{causeOf(item)}</p>}
              {item.deadline && <DeadlineBar deadline={item.deadline} />}
              {item.subject.type === "queue" && (
                <QueueGauge queue={queues.find((one) => one.queue === item.subject.id)} />
              )}
            </div>
            <div>
              <Advice cause={hasEvidence(item) ? item.cause : null} remedy={item.remedy} />
              <div class="actions">
                <Steps steps={stepsOfItem(item)} owner={item.subject.owner} hasMain={position === 0} />
                {(item.subject.owner ? mayManage(item.subject.owner) : mayOperate.value) && (
                  <button type="button" class="button" onClick={() => snooze(item, reload)}>
                    Snooze for 8 h
                  </button>
                )}
              </div>
            </div>
          </li>
        ))}
      </ul>
      <RemedyDialog names={names} reload={reload} />
    </>
  );
}

/** Whether a bar or a gauge shows the danger; otherwise the entry is a short row. */
function hasEvidence(item: AttentionItem): boolean {
  return item.deadline !== null || item.subject.type === "queue";
}

/** The cause without the reference to the documentation, which the remedy of an alarm names. */
function causeOf({ cause }: AttentionItem): string {
  return sentence(cause.replace(/\s*docs\/\S+$/, ""));
}

function titleOf({ kind, subject }: AttentionItem): string {
  const name = subject.job_name ?? subject.id;
  if (kind === "alarm") return alarmTitle(name);
  return subject.type === "queue" ? `Queue ${name}` : name;
}

function QueueGauge({ queue }: { queue: Queue | undefined }) {
  return queue ? <Gauge queue={queue} /> : null;
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
