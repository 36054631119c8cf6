/** The tasks that jobs can run: search, lane, use, parameters and availability. */

import type { Tasks } from "../../api/types";
import { Filters } from "../../components/filters";
import { Icon } from "../../components/icon";
import { Link } from "../../components/link";
import { Empty, Loaded } from "../../components/states";
import { Mark, words } from "../../components/status";
import { Relative } from "../../components/time";
import { count, percent, plural } from "../../format/duration";
import { place, withQuery } from "../../router";
import { useResource } from "../../state/resource";
import { useTitle } from "../../state/title";
import { TaskDetails } from "./details";
import { parametersOf } from "./parameters";

export type Task = Tasks["items"][number];

const RARELY_MS = 60_000;
const SEARCH = { name: "q", placeholder: "Search tasks" };
const BAD = ["failed", "timed_out", "missed"];

export function TasksView() {
  useTitle("Tasks");
  const tasks = useResource<Tasks>("/tasks?usage=true", RARELY_MS);
  const text = place.value.query.get("q") ?? "";
  return (
    <>
      <h1 class="visually-hidden">Tasks</h1>
      <Filters filters={[]} search={SEARCH} others={["task"]} />
      <Loaded what="Tasks" of={tasks}>
        {(data) => (
          <div class="stack">
            {data.unavailable.map((one) => (
              <p key={one.module} class="banner tint-bad">
                <Mark hue="bad" icon="will_miss">
                  The tasks of {one.module} are unavailable. {one.reason}
                </Mark>
              </p>
            ))}
            <TaskTable tasks={data.items.filter((task) => matches(task, text))} isFiltered={text !== ""} />
            {data.usage_is_exact === false && <p class="note">Jobs are counted among the newest 500 live ones.</p>}
          </div>
        )}
      </Loaded>
    </>
  );
}

/** A docstring without its markup of names. */
export function plainText(description: string | null): string {
  return (description ?? "").replaceAll("``", "");
}

function matches(task: Task, text: string): boolean {
  return `${task.name} ${task.description ?? ""} ${task.file ?? ""}`.toLowerCase().includes(text.toLowerCase());
}

function TaskTable({ tasks, isFiltered }: { tasks: Task[]; isFiltered: boolean }) {
  if (tasks.length === 0)
    return (
      <Empty title={isFiltered ? "No task matches" : "No task is registered"}>
        <p>A task is a function with the decorator @task in a module of tasks/.</p>
      </Empty>
    );
  const opened = place.value.query.get("task");
  return (
    <section class="card">
      <table class="table is-cards" aria-label="Tasks">
        <thead>
          <tr>
            <th scope="col">Task</th>
            <th scope="col">Lane</th>
            <th scope="col" class="number">
              Live jobs
            </th>
            <th scope="col" class="number">
              Failed
            </th>
            <th scope="col">Last ended</th>
            <th scope="col">Parameters</th>
          </tr>
        </thead>
        <tbody>
          {tasks.map((task) => (
            <TaskRow key={task.name} task={task} isOpen={opened === task.name} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function TaskRow({ task, isOpen }: { task: Task; isOpen: boolean }) {
  const { usage } = task;
  return (
    <>
      <tr>
        <td>
          <Link to={withQuery({ task: isOpen ? null : task.name })} class="queue-name" aria-expanded={isOpen}>
            <Icon name={isOpen ? "down" : "right"} />
            <span class="name">{task.name}</span>
          </Link>
          {task.is_available ? (
            !isOpen && <span class="note task-summary">{plainText(task.description)}</span>
          ) : (
            <Mark hue="bad" icon="will_miss">
              Unavailable
            </Mark>
          )}
        </td>
        <td data-title="Lane">{task.lane ? words(task.lane) : "Short and long"}</td>
        <td class="number" data-title="Live jobs">
          {usage ? <Jobs task={task.name} jobs={usage.live_jobs} /> : <span class="dim">Unknown</span>}
        </td>
        <td class="number" data-title="Failed">
          <FailedShare usage={usage} />
        </td>
        <td data-title="Last ended">
          {usage?.last_ended_at ? <Relative at={usage.last_ended_at} /> : <span class="dim">None</span>}
        </td>
        <td data-title="Parameters" class="task-parameters">
          {task.parameters ? namesOf(task.parameters) : <span class="dim">Not validated</span>}
        </td>
      </tr>
      {isOpen && (
        <tr class="queue-details">
          <td colSpan={6}>
            <TaskDetails task={task} />
          </td>
        </tr>
      )}
    </>
  );
}

function Jobs({ task, jobs }: { task: string; jobs: number }) {
  if (jobs === 0) return <span class="dim">None</span>;
  return (
    <Link to={`/jobs?task=${encodeURIComponent(task)}`} class="underlined">
      {count(jobs)}
    </Link>
  );
}

/** Of the last 20 executions of each job. */
function FailedShare({ usage }: { usage: Task["usage"] }) {
  const total = Object.values(usage?.outcomes ?? {}).reduce((sum, one) => sum + one, 0);
  if (!usage || total === 0) return <span class="dim">None yet</span>;
  const failed = BAD.reduce((sum, status) => sum + (usage.outcomes[status] ?? 0), 0);
  return (
    <span class={failed ? "hue-bad" : undefined} title={`${count(failed)} of the last ${plural(total, "execution")}`}>
      {percent((failed / total) * 100)}
    </span>
  );
}

function namesOf(schema: Record<string, unknown>): string {
  return (
    parametersOf(schema)
      .map((one) => one.name)
      .join(", ") || "None"
  );
}
