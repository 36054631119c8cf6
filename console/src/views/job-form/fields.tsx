import type { ComponentChildren } from "preact";
import type { Problem } from "../../api/problem";
import { tryingAgain } from "../../components/states";
import { sentence } from "../../format/text";
import { useResource } from "../../state/resource";
import { Choice } from "./choice";
import { DeadlineFields } from "./deadline-fields";
import { type Draft, withField } from "./draft";
import { Field } from "./field";
import { RulesFields } from "./rules-fields";
import { ScheduleFields } from "./schedule-fields";
import { SchemaFields } from "./schema-fields";

interface Task {
  name: string;
  description: string | null;
  parameters: unknown;
  is_available: boolean;
}

interface Props {
  draft: Draft;
  onChange: (draft: Draft) => void;
  problemAt: (field: string) => string | undefined;
  isEdit: boolean;
}

export function FormFields({ draft, onChange, problemAt, isEdit }: Props) {
  const tasks = useResource<{ items: Task[] }>("/tasks", 0);
  const set = (field: string) => (value: unknown) => onChange(withField(draft, field, value));
  const task = tasks.data?.items.find((one) => one.name === draft.task);
  return (
    <>
      <Section title="What">
        <div class="form-grid">
          <Field
            id="task"
            label="Task"
            note={task?.description?.replaceAll("`", "")}
            problem={problemAt("task") ?? notLoaded(tasks.problem)}
          >
            <select
              id="task"
              class="input"
              disabled={isEdit}
              value={String(draft.task ?? "")}
              onChange={(event) => set("task")(event.currentTarget.value)}
            >
              <option value="">Choose a task…</option>
              {(tasks.data?.items ?? []).map((one) => (
                <option key={one.name} disabled={!one.is_available}>
                  {one.name}
                </option>
              ))}
              {Boolean(draft.task) && !task && <option>{String(draft.task)}</option>}
            </select>
            {tasks.problem && (
              <button type="button" class="button" onClick={tasks.reload}>
                Try again
              </button>
            )}
          </Field>
          <Field id="name" label="Name" isOptional note="Shown in lists and notices" problem={problemAt("name")}>
            <input
              id="name"
              class="input"
              value={String(draft.name ?? "")}
              onInput={(event) => set("name")(event.currentTarget.value)}
            />
          </Field>
        </div>
        <SchemaFields
          key={String(draft.task)}
          schema={task?.parameters}
          value={(draft.parameters ?? {}) as Record<string, unknown>}
          onChange={(value) => set("parameters")(Object.keys(value).length ? value : null)}
        />
      </Section>
      <Section title="When">
        <ScheduleFields draft={draft} onChange={set("schedule")} problemAt={problemAt} />
      </Section>
      <Section title="Deadline">
        <DeadlineFields deadline={draft.deadline} onChange={set("deadline")} problemAt={problemAt} />
      </Section>
      <Section title="Where">
        <div class="form-grid">
          <Choice
            title="Lane"
            name="lane"
            values={["short", "long"]}
            value={String(draft.lane ?? "short")}
            onChange={set("lane")}
          />
          <Choice
            title="Priority"
            name="priority"
            values={["high", "normal", "low"]}
            value={String(draft.priority ?? "normal")}
            onChange={set("priority")}
          />
          <Field
            id="timeout_seconds"
            label="Time limit"
            isOptional
            note="Seconds per attempt"
            problem={problemAt("timeout_seconds")}
          >
            <input
              id="timeout_seconds"
              class="input"
              type="number"
              min="1"
              value={String(draft.timeout_seconds ?? "")}
              onInput={(event) =>
                set("timeout_seconds")(event.currentTarget.value ? Number(event.currentTarget.value) : null)
              }
            />
          </Field>
        </div>
      </Section>
      <Section title="Rules">
        <RulesFields draft={draft} set={set} problemAt={problemAt} isEdit={isEdit} />
      </Section>
    </>
  );
}

/** A failed request must not look like a list without tasks. */
function notLoaded(problem: Problem | null): string | undefined {
  return problem ? `Tasks: ${sentence(problem.message)} ${tryingAgain(problem)}` : undefined;
}

function Section({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="form-section">
      <h2>{title}</h2>
      <div class="stack">{children}</div>
    </section>
  );
}
