/** What happens around a run: overlap and tags, and in closed groups what most jobs leave at its default. */

import { useContext, useState } from "preact/hooks";
import type { Submission } from "../../api/types";
import type { Draft } from "./draft";
import { Field } from "./field";
import { tagsOf, tagsText } from "./plain";
import { FormContext, problemWithin } from "./problems";
import { FIXED, GROUPS, type Group, summaryOf } from "./rules";
import { ValueField } from "./value-field";

interface Props {
  draft: Draft;
  set: (field: string) => (value: unknown) => void;
  problemAt: (field: string) => string | undefined;
  isEdit: boolean;
}

export function RulesFields({ draft, set, problemAt, isEdit }: Props) {
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
        <TagsField tags={draft.tags} problem={problemAt("tags")} onChange={set("tags")} />
      </div>
      {GROUPS.map((group) => (
        <GroupFields key={group.title} group={group} draft={draft} set={set} isEdit={isEdit} />
      ))}
    </>
  );
}

interface GroupProps extends Pick<Props, "draft" | "set" | "isEdit"> {
  group: Group;
}

/** Drawn when it is opened, and open while one of its fields is refused. */
function GroupFields({ group, draft, set, isEdit }: GroupProps) {
  const { fields: problems } = useContext(FormContext);
  const fields = (Object.entries(group.fields) as [keyof Submission, (typeof group.fields)["retry"]][]).filter(
    ([name]) => !isEdit || !FIXED.includes(name),
  );
  const [isOpened, setOpened] = useState(false);
  const isRefused = fields.some(([name]) => problemWithin(problems, name));
  const isOpen = isOpened || isRefused;
  if (fields.length === 0) return null;
  const summary = fields.map(([name, schema]) => summaryOf(schema ?? {}, draft[name])).filter(Boolean);
  return (
    <details class="rule-group" open={isOpen} onToggle={(event) => setOpened(event.currentTarget.open)}>
      <summary>
        {group.title} <span class="dim">{summary.join(", ") || "Default"}</span>
      </summary>
      {isOpen && (
        <div class="form-grid">
          {fields.map(([name, schema]) => (
            <ValueField
              key={name}
              path={name}
              label={schema?.title ?? name}
              schema={schema ?? {}}
              root={schema ?? {}}
              value={draft[name]}
              onChange={set(name)}
            />
          ))}
        </div>
      )}
    </details>
  );
}

interface TagsProps {
  tags: unknown;
  problem: string | undefined;
  onChange: (tags: unknown) => void;
}

/** Keeps the text as typed: its value in the draft is normalised. */
function TagsField({ tags, problem, onChange }: TagsProps) {
  const [text, setText] = useState(tagsText(tags));
  return (
    <Field id="tags" label="Tags" isOptional note="Such as dataset:orders, country:nl" problem={problem}>
      <input
        id="tags"
        class="input"
        aria-invalid={Boolean(problem)}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          onChange(tagsOf(event.currentTarget.value));
        }}
      />
    </Field>
  );
}
