/** A task: what it does, its parameters with an example, its source file, and the way to a job. */

import { CopyableText } from "../../components/json";
import { Link } from "../../components/link";
import { Mark } from "../../components/status";
import { maySubmit } from "../../state/me";
import { exampleOf, type Parameter, parametersOf } from "./parameters";
import { plainText, type Task } from "./view";

export function TaskDetails({ task }: { task: Task }) {
  return (
    <div class="stack-small task-details">
      {task.reason && (
        <Mark hue="bad" icon="will_miss">
          {task.reason}
        </Mark>
      )}
      {task.description && <p>{plainText(task.description)}</p>}
      <p class="note">
        {task.file ? <code>{task.file}</code> : "No module registers it."}
        {task.has_collect_step && " Combines the results of partitions."}
        {task.lane === "long" && " Runs in the long lane only."}
      </p>
      {task.parameters ? (
        <Parameters schema={task.parameters} />
      ) : (
        task.is_available && <p>Its parameters are not validated.</p>
      )}
      {maySubmit.value && task.is_available && (
        <p>
          <Link to={`/jobs/new?task=${encodeURIComponent(task.name)}`} class="button">
            New job with this task
          </Link>
        </p>
      )}
    </div>
  );
}

function Parameters({ schema }: { schema: Record<string, unknown> }) {
  const parameters = parametersOf(schema);
  return (
    <div class="task-schema">
      {parameters.length === 0 ? (
        <p>It takes no parameters.</p>
      ) : (
        <table class="table is-compact" aria-label="Parameters">
          <thead>
            <tr>
              <th scope="col">Parameter</th>
              <th scope="col">Type</th>
              <th scope="col">Limits</th>
            </tr>
          </thead>
          <tbody>
            {parameters.map((one) => (
              <Row key={one.name} parameter={one} />
            ))}
          </tbody>
        </table>
      )}
      <section>
        <h2>Example</h2>
        <CopyableText text={JSON.stringify(exampleOf(schema), null, 2)} label="Example" />
      </section>
    </div>
  );
}

function Row({ parameter }: { parameter: Parameter }) {
  return (
    <tr>
      <td>
        <code>{parameter.name}</code>
        <span class="note">
          {[parameter.isRequired ? "Required." : "Optional.", parameter.description].filter(Boolean).join(" ")}
        </span>
      </td>
      <td>{parameter.type}</td>
      <td class="task-limits">{parameter.limits || <span class="dim">None</span>}</td>
    </tr>
  );
}
