/** Many partitions as a grid of squares: shape and colour show the status, a bar the progress; the chosen one is described. */

import type { Part } from "../../api/types";
import { Icon, type IconName } from "../../components/icon";
import { words } from "../../components/status";
import { count, duration } from "../../format/duration";
import { place, setQuery } from "../../router";
import { PartDetails } from "./part-details";
import { partName } from "./part-name";
import { secondsOf } from "./part-status";

const CELL = 28;

export function Parts({ parts, timezone }: { parts: Part[]; timezone: string }) {
  const chosen = place.value.query.get("part");
  const part = parts.find((one) => one.part === chosen);
  const totals = [...new Set(parts.map((one) => one.status))].map(
    (status) => [status, parts.filter((one) => one.status === status).length] as const,
  );
  return (
    <section class="card" aria-label="Parts">
      <header>
        <h2>Parts</h2>
        <span class="note">
          {totals.map(([status, number]) => `${count(number)} ${words(status).toLowerCase()}`).join(", ")}
        </span>
        <span class="note aside">choose one for its times, worker, error and log</span>
      </header>
      <div class="body">
        <div class="part-grid">
          {parts.map((one) => (
            <Cell key={one.part} part={one} name={partName(one, timezone)} isChosen={one.part === chosen} />
          ))}
        </div>
        {part && <PartDetails part={part} name={partName(part, timezone)} timezone={timezone} />}
      </div>
    </section>
  );
}

function Cell({ part, name, isChosen }: { part: Part; name: string; isChosen: boolean }) {
  const percent = part.status === "succeeded" ? 100 : (part.progress?.percent ?? 0);
  const said = `${name}: ${words(part.status)}${part.progress ? ` ${Math.round(percent)}%` : ""}${lastedWords(part)}`;
  return (
    <button
      type="button"
      class={`part-cell status-${part.status}`}
      aria-pressed={isChosen}
      aria-label={said}
      title={said}
      onClick={() => setQuery({ part: isChosen ? null : part.part }, { replace: true })}
    >
      <Icon name={part.status as IconName} />
      <svg width={CELL - 2} height="3" aria-hidden="true">
        <rect width={(CELL - 2) * (percent / 100)} height="3" fill="currentColor" />
      </svg>
    </button>
  );
}

function lastedWords(part: Part): string {
  const seconds = secondsOf(part);
  return seconds === null ? "" : `, ${duration(seconds)}`;
}
