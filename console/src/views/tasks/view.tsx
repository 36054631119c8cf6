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

export function TasksView() {
  useTitle("Tasks");
  const tasks = useResource<Tasks>("/tasks", RARELY_MS);
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
                    <b>{task.name}</b> <span class="dim">{task.description}</span>
                  </summary>
                  <div class="stack-small">
                    <p class="note">
                      {task.file}
                      {task.has_collect_step && ", combines the results of partitions"}
                    </p>
                    {task.parameters ? (
                      <Json value={task.parameters} label="Parameter schema" />
                    ) : (
                      <p>Its parameters are not validated.</p>
                    )}
                    {mayOperate.value && (
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
