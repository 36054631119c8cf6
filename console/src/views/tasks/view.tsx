/** The tasks that jobs can run, with their parameters, and the modules that cannot be imported. */

import type { Tasks } from "../../api/types";
import { Json } from "../../components/json";
import { Link } from "../../components/link";
import { Empty, Loaded } from "../../components/states";
import { Mark } from "../../components/status";
import { mayOperate } from "../../state/me";
import { useResource } from "../../state/resource";
import { useTitle } from "../../state/title";

const RARELY_MS = 60_000;

function used(task: Tasks["items"][number]): string {
  const jobs = task.usage?.live_jobs;
  return jobs ? `Used by ${jobs} live ${jobs === 1 ? "job" : "jobs"}.` : "";
}

export function TasksView() {
  useTitle("Tasks");
  const tasks = useResource<Tasks>("/tasks?usage=true", RARELY_MS);
  return (
    <Loaded what="Tasks" of={tasks}>
      {(data) => (
        <div class="stack">
          <h1 class="visually-hidden">Tasks</h1>
          {data.unavailable.map((one) => (
            <p key={one.module} class="banner tint-bad">
              <Mark hue="bad" icon="will_miss">
                The tasks of {one.module} are unavailable. {one.reason}
              </Mark>
            </p>
          ))}
          {data.items.length === 0 && <Empty title="No task is registered" />}
          <ul class="card rows">
            {data.items.map((task) => (
              <li key={task.name}>
                <details class="padded">
                  <summary>
                    <b>{task.name}</b>{" "}
                    <span class="dim">
                      {task.description} {used(task)}
                    </span>
                  </summary>
                  <div class="stack-small">
                    {task.reason && (
                      <p>
                        <Mark hue="bad" icon="will_miss">
                          Unavailable: {task.reason}
                        </Mark>
                      </p>
                    )}
                    <p class="note">
                      {task.file}
                      {task.has_collect_step && ", combines the results of partitions"}
                    </p>
                    {task.parameters && <Json value={task.parameters} label="Parameter schema" />}
                    {task.is_available && !task.parameters && <p>Its parameters are not validated.</p>}
                    {mayOperate.value && task.is_available && (
                      <p>
                        <Link to={`/jobs/new?task=${encodeURIComponent(task.name)}`} class="button">
                          New job with this task
                        </Link>
                      </p>
                    )}
                  </div>
                </details>
              </li>
            ))}
          </ul>
        </div>
      )}
    </Loaded>
  );
}
