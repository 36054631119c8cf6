/** Dates on which the job does not run: named calendars, read when the field is opened. */

import { useState } from "preact/hooks";
import { tryingAgain } from "../../components/states";
import { sentence } from "../../format/text";
import { useResource } from "../../state/resource";

interface Props {
  skip: string[];
  problem: string | undefined;
  onChange: (skip: string[] | undefined) => void;
}

export function SkipField({ skip, problem, onChange }: Props) {
  const [isOpen, setOpen] = useState(false);
  const { data, problem: away } = useResource<{ items: { name: string; dates: string[] }[] }>(
    isOpen ? "/calendars" : null,
    0,
  );
  const names = [...new Set([...(data?.items ?? []).map((one) => one.name), ...skip])];
  const set = (name: string, isSkipped: boolean) => {
    const next = isSkipped ? [...skip, name] : skip.filter((one) => one !== name);
    onChange(next.length ? next : undefined);
  };
  return (
    <details class="skip-field" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary id="schedule.skip">
        Dates to skip <span class="dim">{skip.length ? skip.join(", ") : "None"}</span>
      </summary>
      {problem && <p class="note error">{problem}</p>}
      <ul class="chips">
        {names.map((name) => (
          <li key={name}>
            <label class="check">
              <input
                type="checkbox"
                checked={skip.includes(name)}
                onChange={(event) => set(name, event.currentTarget.checked)}
              />
              {name}
              <span class="dim">{nextOf(data?.items.find((one) => one.name === name)?.dates)}</span>
            </label>
          </li>
        ))}
        {isOpen && !data && (
          <li class="dim">
            {away ? `Calendars: ${sentence(away.message)} ${tryingAgain(away)}` : "Loading calendars…"}
          </li>
        )}
      </ul>
    </details>
  );
}

/** `next 2026-12-25`. */
function nextOf(dates: string[] | undefined): string {
  const today = new Date().toISOString().slice(0, 10);
  const next = dates?.find((one) => one >= today);
  return next ? `next ${next}` : "";
}
