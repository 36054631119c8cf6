/** What the marks of the calendar mean. */

import { Icon } from "../../components/icon";

const BARS = [
  ["bar-ok", "Succeeded"],
  ["bar-live", "Running"],
  ["bar-wait", "Waits"],
  ["bar-forecast", "Forecast, line to P95"],
  ["bar-late", "May end after the deadline"],
] as const;

export function Legend() {
  return (
    <div class="calendar-legend note">
      {BARS.map(([name, text]) => (
        <span key={name}>
          <svg width="18" height="12" aria-hidden="true">
            <rect x="1" y="1" width="16" height="10" rx="3" class={name} />
          </svg>
          {text}
        </span>
      ))}
      <span class="hue-bad">
        <Icon name="failed" /> <span class="dim">Failed</span>
      </span>
      <span>
        <Icon name="flag" /> Deadline
      </span>
      <span class="aside">Runs too short for a bar show as their status</span>
    </div>
  );
}

/** The hatches that the marks are filled with. */
export function Hatches() {
  return (
    <svg class="visually-hidden" width="0" height="0" aria-hidden="true">
      <defs>
        {(["wait", "late"] as const).map((name) => (
          <pattern
            key={name}
            id={`hatch-${name}`}
            width="6"
            height="6"
            patternUnits="userSpaceOnUse"
            patternTransform="rotate(45)"
          >
            <rect width="6" height="6" class={`${name}-ground`} />
            <rect width="2.5" height="6" class={`${name}-line`} />
          </pattern>
        ))}
      </defs>
    </svg>
  );
}
