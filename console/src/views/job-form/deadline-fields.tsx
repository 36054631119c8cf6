/** The deadline of each run: some time after it is due, or the next match of a cron expression. */

import { cronWords } from "../../format/cron-words";
import { sentence } from "../../format/text";
import { Field } from "./field";

interface Props {
  deadline: unknown;
  onChange: (deadline: unknown) => void;
  problemAt: (field: string) => string | undefined;
}

export function DeadlineFields({ deadline, onChange, problemAt }: Props) {
  const { within_seconds: within, by, at } = (deadline ?? {}) as Record<string, unknown>;
  const { cron = "", ...rest } = (by ?? {}) as { cron?: string };
  const words = cronWords(cron);
  return (
    <div class="form-grid">
      <Field
        id="deadline"
        label="Seconds after due"
        isOptional
        note={at ? `Set to ${at}` : "A forecast warns when it may be missed"}
        problem={problemAt("deadline.within_seconds") ?? (by ? undefined : problemAt("deadline"))}
      >
        <input
          id="deadline"
          class="input"
          type="number"
          min="1"
          value={String(within ?? "")}
          onInput={(event) =>
            onChange(event.currentTarget.value ? { within_seconds: Number(event.currentTarget.value) } : null)
          }
        />
      </Field>
      <Field
        id="deadline.by"
        label="Or at the next match of"
        isOptional
        note={cron && words !== cron ? sentence(words) : "A cron expression, such as 0 0 * * WED"}
        problem={by ? problemAt("deadline") : undefined}
      >
        <input
          id="deadline.by"
          class="input mono"
          value={cron}
          onInput={(event) =>
            onChange(event.currentTarget.value ? { by: { ...rest, cron: event.currentTarget.value } } : null)
          }
        />
      </Field>
    </div>
  );
}
