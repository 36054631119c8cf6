/** The queue jobs with the most waiting messages: who fills the queues, and what helps. */

import { send } from "../../api/client";
import type { QueueJob, Queues } from "../../api/types";
import { closeDialog, Dialog } from "../../components/dialog";
import { DryRun } from "../../components/dry-run";
import { Link } from "../../components/link";
import { Empty } from "../../components/states";
import { JobState, Mark } from "../../components/status";
import { say } from "../../components/toasts";
import { coarse, count, plural } from "../../format/duration";
import { place, withQuery } from "../../router";
import { mayManage } from "../../state/me";
import { limitsInWords, rate } from "./words";

export function Fillers({ queues, reload }: { queues: Queues; reload: () => void }) {
  return (
    <section class="card">
      <header>
        <h2>Who fills the queues</h2>
        <span class="note">jobs that run once per message, the fullest first</span>
        {queues.jobs_left_out > 0 && <span class="note aside">and {plural(queues.jobs_left_out, "other job")}</span>}
      </header>
      {queues.jobs.length === 0 ? (
        <Empty title="No job takes messages" />
      ) : (
        <table class="table is-cards" aria-label="Who fills the queues">
          <thead>
            <tr>
              <th scope="col">Job</th>
              <th scope="col">State</th>
              <th scope="col" class="number">
                Waits
              </th>
              <th scope="col" class="number">
                Oldest
              </th>
              <th scope="col" class="number">
                In a minute
              </th>
              <th scope="col" class="number">
                Out a minute
              </th>
              <th scope="col">Limits</th>
              <th scope="col">
                <span class="visually-hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {queues.jobs.map((job) => (
              <Row key={job.job_id} job={job} />
            ))}
          </tbody>
        </table>
      )}
      <Question jobs={queues.jobs} reload={reload} />
    </section>
  );
}

function Row({ job }: { job: QueueJob }) {
  const limits = limitsInWords(job.backlog);
  return (
    <tr>
      <td>
        <Link to={`/jobs/${job.job_id}`} class="name">
          {job.job_name ?? job.job_id}
        </Link>
        <span class="note">{job.owner}</span>
      </td>
      <td>
        <JobState state={job.state} />
      </td>
      <td class="number" data-title="Waits">
        {job.depth_is_exact ? count(job.depth) : `over ${count(job.depth)}`}
      </td>
      <td class="number" data-title="Oldest">
        {job.depth ? coarse(job.oldest_seconds) : <span class="dim">None</span>}
      </td>
      <td class="number" data-title="In a minute">
        {rate(job.arrival_per_minute)}
      </td>
      <td class="number" data-title="Out a minute">
        {rate(job.finished_per_minute)}
      </td>
      <td data-title="Limits">
        {job.exceeded_since ? (
          <Mark hue="bad" icon="will_miss">
            Over {limits}
          </Mark>
        ) : (
          limits || <span class="dim">None</span>
        )}
      </td>
      <td class="number">{mayManage(job.owner) && <Actions job={job} />}</td>
    </tr>
  );
}

function Actions({ job }: { job: QueueJob }) {
  return (
    <span class="actions filler-actions">
      <Link to={withQuery({ do: `low.${job.job_id}` })} class="button">
        Set to low…
      </Link>
      {job.state === "active" && (
        <Link to={withQuery({ do: `pause.${job.job_id}` })} class="button">
          Pause…
        </Link>
      )}
    </span>
  );
}

function Question({ jobs, reload }: { jobs: QueueJob[]; reload: () => void }) {
  const [action, id] = (place.value.query.get("do") ?? "").split(".");
  const job = jobs.find((one) => one.job_id === id);
  if (!job || (action !== "low" && action !== "pause")) return null;
  const isPause = action === "pause";
  const name = job.job_name ?? job.job_id;
  const change = isPause
    ? { method: "POST", path: `/jobs/${job.job_id}/pause` }
    : { method: "PATCH", path: `/jobs/${job.job_id}`, body: { priority: "low" } };
  const confirm = async () => {
    await send(change.method, change.path, change.body);
    closeDialog();
    reload();
    say(isPause ? `${name} is paused` : `${name} has the priority low`, { text: "Open", to: `/jobs/${job.job_id}` });
  };
  return (
    <Dialog
      title={isPause ? `Pause ${name}?` : `Set ${name} to low?`}
      verb={isPause ? "Pause the job" : "Set to low"}
      onConfirm={confirm}
    >
      <p>
        {isPause
          ? "Its messages are kept, and run when it is resumed."
          : "Its next messages go to the queue low, so that they delay no job of another priority."}
      </p>
      <DryRun {...change} />
    </Dialog>
  );
}
