/** What happens around a run: overlap, tags, notices, limits of the backlog; the rest as JSON. */

import { useState } from "preact/hooks";
import { type Draft, kindOf, otherFields } from "./draft";
import { Field } from "./field";
import { notifyOf, notifyText, tagsOf, tagsText, withLimit } from "./plain";
import { JsonField } from "./schema-fields";

interface Props {
  draft: Draft;
  onChange: (draft: Draft) => void;
  set: (field: string) => (value: unknown) => void;
  problemAt: (field: string) => string | undefined;
}

export function RulesFields({ draft, onChange, set, problemAt }: Props) {
  const others = otherFields(draft);
  const notify = notifyText(draft.notify);
  const backlog = (draft.backlog ?? {}) as Record<string, unknown>;
  return (
    <>
      <div class="form-grid">
        <Field id="overlap" label="Overlap" isOptional note="If the last one still runs" problem={problemAt("overlap")}>
          <select
            id="overlap"
            class="input"
            value={String(draft.overlap ?? "")}
            onChange={(event) => set("overlap")(event.currentTarget.value)}
          >
            <option value="">Default</option>
            <option value="skip">Skip the new one</option>
            <option value="allow">Run both</option>
            <option value="queue_one">Let one wait</option>
            <option value="queue_all">Let all wait</option>
            <option value="cancel_running">Cancel the running one</option>
          </select>
        </Field>
        <TextField
          id="tags"
          label="Tags"
          note="Such as dataset:orders, country:nl"
          initial={tagsText(draft.tags)}
          problem={problemAt("tags")}
          onChange={(text) => set("tags")(tagsOf(text))}
        />
        {notify !== null && (
          <TextField
            id="notify"
            label="Notify"
            note="notice, page, an e-mail address or the ARN of a topic"
            initial={notify}
            problem={problemAt("notify")}
            onChange={(text) => set("notify")(notifyOf(text, draft.notify))}
          />
        )}
      </div>
      {kindOf(draft) === "queue" && (
        <div class="form-grid">
          {(["messages", "minutes"] as const).map((name) => (
            <Field
              key={name}
              id={`backlog.${name}`}
              label={name === "messages" ? "Notify from messages waiting" : "Notify from minutes waiting"}
              isOptional
              note={name === "messages" ? "How many wait for their start" : "How long the oldest waits"}
              problem={problemAt(`backlog.${name}`)}
            >
              <input
                id={`backlog.${name}`}
                class="input"
                type="number"
                min="1"
                value={String(backlog[name] ?? "")}
                onInput={(event) => set("backlog")(withLimit(draft.backlog, name, event.currentTarget.value))}
              />
            </Field>
          ))}
        </div>
      )}
      <JsonField
        label="Other fields"
        field="others"
        note="retry, misfire, concurrency, depends_on, partitions, resources, webhooks: as in the API"
        value={others}
        problem={undefined}
        onChange={(value) => {
          const own = Object.entries(draft).filter(([name]) => !(name in others));
          onChange({ ...Object.fromEntries(own), ...value });
        }}
      />
    </>
  );
}

interface TextProps {
  id: string;
  label: string;
  note: string;
  initial: string;
  problem: string | undefined;
  onChange: (text: string) => void;
}

/** Keeps the text as typed: its value in the draft is normalised. */
function TextField({ id, label, note, initial, problem, onChange }: TextProps) {
  const [text, setText] = useState(initial);
  return (
    <Field id={id} label={label} isOptional note={note} problem={problem}>
      <input
        id={id}
        class="input"
        aria-invalid={Boolean(problem)}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          onChange(event.currentTarget.value);
        }}
      />
    </Field>
  );
}
