/** When the job is due: now, once, by cron, at an interval, or on each message. */

import { cronWords } from "../../format/cron-words";
import { cityOf, zone } from "../../format/time";
import type { Draft, ScheduleKind } from "./draft";
import { kindOf } from "./draft";
import { Field } from "./field";
import { SkipField } from "./skip-field";

const KINDS: [ScheduleKind, string][] = [
  ["now", "Now"],
  ["at", "Once"],
  ["cron", "Cron"],
  ["every", "Every"],
  ["queue", "On message"],
];
const ZONES = ["UTC", ...Intl.supportedValuesOf("timeZone").filter((name) => name !== "UTC")];

interface Props {
  draft: Draft;
  onChange: (schedule: unknown) => void;
  problemAt: (field: string) => string | undefined;
}

export function ScheduleFields({ draft, onChange, problemAt }: Props) {
  const kind = kindOf(draft);
  const schedule = (draft.schedule ?? {}) as Record<string, unknown>;
  const start = (next: ScheduleKind) => onChange(initial(next));
  return (
    <>
      <fieldset class="segments" aria-label="When">
        {KINDS.map(([id, title]) => (
          <label key={id}>
            <input type="radio" name="when" checked={kind === id} onChange={() => start(id)} />
            {title}
          </label>
        ))}
      </fieldset>
      {kind === "at" && (
        <Field
          id="schedule.at"
          label="Instant"
          note="RFC 3339, such as 2030-01-01T12:00:00Z"
          problem={problemAt("schedule.at")}
        >
          <input
            id="schedule.at"
            class="input mono"
            value={String(schedule.at ?? "")}
            onInput={(event) => onChange({ ...schedule, at: event.currentTarget.value })}
          />
        </Field>
      )}
      {kind === "every" && (
        <Field
          id="schedule.every_seconds"
          label="Seconds between due instants"
          note="At least 1"
          problem={problemAt("schedule.every_seconds")}
        >
          <input
            id="schedule.every_seconds"
            class="input"
            type="number"
            min="1"
            value={String(schedule.every_seconds ?? "")}
            onInput={(event) => onChange({ ...schedule, every_seconds: Number(event.currentTarget.value) })}
          />
        </Field>
      )}
      {kind === "cron" && <CronFields schedule={schedule} onChange={onChange} problemAt={problemAt} />}
      {(kind === "cron" || kind === "every") && (
        <SkipField
          skip={(schedule.skip ?? []) as string[]}
          problem={problemAt("schedule.skip")}
          onChange={(skip) => {
            const { skip: _, ...rest } = schedule;
            onChange(skip ? { ...rest, skip } : rest);
          }}
        />
      )}
      {kind === "queue" && (
        <p class="note">One execution for each message on the intake queue. The payload becomes the parameters.</p>
      )}
    </>
  );
}

function CronFields({ schedule, onChange, problemAt }: Omit<Props, "draft"> & { schedule: Record<string, unknown> }) {
  const cron = String(schedule.cron ?? "");
  const words = cronWords(cron);
  return (
    <>
      <div class="form-grid">
        <Field
          id="schedule.cron"
          label="Cron"
          note="Minute, hour, day, month, weekday"
          problem={problemAt("schedule.cron")}
        >
          <input
            id="schedule.cron"
            class="input mono"
            list="cron-examples"
            aria-invalid={Boolean(problemAt("schedule.cron"))}
            value={cron}
            onInput={(event) => onChange({ ...schedule, cron: event.currentTarget.value })}
          />
          <datalist id="cron-examples">
            <option value="0 2 * * *" />
            <option value="*/15 * * * MON-FRI" />
            <option value="0 12 * * TUE" />
            <option value="0 0 1 * *" />
          </datalist>
        </Field>
        <Field
          id="schedule.timezone"
          label="Time zone"
          note="Wall clock time, also where clocks change"
          problem={problemAt("schedule.timezone")}
        >
          <select
            id="schedule.timezone"
            class="input"
            value={String(schedule.timezone ?? "UTC")}
            onChange={(event) => onChange({ ...schedule, timezone: event.currentTarget.value })}
          >
            {ZONES.map((name) => (
              <option key={name} value={name}>
                {name.replaceAll("_", " ")}
              </option>
            ))}
          </select>
        </Field>
      </div>
      {words !== cron && !problemAt("schedule.cron") && (
        <p class="well">
          <b>{words.charAt(0).toUpperCase() + words.slice(1)}</b> in {cityOf(String(schedule.timezone ?? "UTC"))}.
        </p>
      )}
    </>
  );
}

function initial(kind: ScheduleKind): unknown {
  if (kind === "cron") return { cron: "0 2 * * *", timezone: zone.value };
  if (kind === "every") return { every_seconds: 3600 };
  if (kind === "queue") return { queue: true };
  if (kind === "at") return { at: new Date(Date.now() + 3_600_000).toISOString().replace(/\.\d+Z$/, "Z") };
  return null;
}
