/** Many partitions as a grid of squares: shape and colour show the status, the chosen one is described below. */

import { useState } from "preact/hooks";
import type { Part } from "../../api/types";
import { Icon, type IconName } from "../../components/icon";
import { ExecutionStatus, words } from "../../components/status";
import { Time } from "../../components/time";
import { count } from "../../format/duration";
import { partName } from "./part-name";

export function Parts({ parts, timezone }: { parts: Part[]; timezone: string }) {
  const [chosen, choose] = useState<string | null>(null);
  const part = parts.find((one) => one.part === chosen);
  const totals = [...new Set(parts.map((one) => one.status))].map(
    (status) => [status, parts.filter((one) => one.status === status).length] as const,
  );
  return (
    <section class="card">
      <header>
        <h2>Parts</h2>
        <span class="note">
          {totals.map(([status, number]) => `${count(number)} ${words(status).toLowerCase()}`).join(", ")}
        </span>
      </header>
      <div class="body">
        <div class="parts">
          {parts.map((one) => (
            <button
              type="button"
              key={one.part}
              class={`part-cell status-${one.status}`}
              aria-pressed={one.part === chosen}
              aria-label={`Part ${partName(one, timezone)}: ${words(one.status)}`}
              title={`${partName(one, timezone)}: ${words(one.status)}`}
              onClick={() => choose(one.part)}
            >
              <Icon name={one.status as IconName} />
            </button>
          ))}
        </div>
        {part && <Chosen part={part} name={partName(part, timezone)} />}
      </div>
    </section>
  );
}

function Chosen({ part, name }: { part: Part; name: string }) {
  return (
    <p class="facts" role="status">
      <b>{name}</b>
      <ExecutionStatus
        status={part.status}
        detail={part.progress ? `${Math.round(part.progress.percent)}%` : undefined}
      />
      <span>attempt {part.attempt}</span>
      {part.expected_end && !part.ended_at && (
        <span>
          ends about <Time at={part.expected_end} />
        </span>
      )}
      {part.ended_at && (
        <span>
          ended <Time at={part.ended_at} />
        </span>
      )}
      {(part.reason || part.error) && <span>{part.reason ?? part.error?.message}</span>}
    </p>
  );
}
