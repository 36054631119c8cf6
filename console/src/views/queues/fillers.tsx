/** The queue jobs with the most waiting messages: which jobs fill the queues, with the remedies. */

import type { QueueJob, Queues } from "../../api/types";
import { Link } from "../../components/link";
import { LoadMore } from "../../components/load-more";
import { RemedyDialog } from "../../components/remedies/dialog";
import { actionIn } from "../../components/remedies/steps";
import { Empty } from "../../components/states";
import { JobState, Mark } from "../../components/status";
import { coarse, count, plural } from "../../format/duration";
import { place, withQuery } from "../../router";
import { useFurtherPages } from "../../state/list";
import { mayManage } from "../../state/me";
import { limitsInWords, rate } from "./words";

export function Fillers({ queues, reload }: { queues: Queues; reload: () => void }) {
  const list = useFurtherPages<QueueJob, Queues>("/queues", queues, idOf, (answer) => answer.jobs);
  const jobs = list.items;
  const left = (queues.jobs.total ?? 0) - jobs.length;
  return (
    <section class="card">
      <header>
        <h2>Who fills the queues</h2>
        <span class="note">jobs that run once per message, the fullest first</span>
        {left > 0 && <span class="note aside">and {plural(left, "other job")}</span>}
      </header>
      {jobs.length === 0 ? (
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
                In/min
              </th>
              <th scope="col" class="number">
                Out/min
              </th>
              <th scope="col">Limits</th>
              <th scope="col">
                <span class="visually-hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {jobs.map((job) => (
              <Row key={job.job_id} job={job} />
            ))}
          </tbody>
        </table>
      )}
      <LoadMore of={list} />
      <RemedyDialog
        names={new Map(jobs.map((one) => [one.job_id, one.job_name ?? one.job_id]))}
        reload={reload}
        wanted={wantedOf(jobs)}
      />
    </section>
  );
}

function idOf(job: QueueJob): string {
  return job.job_id;
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
      <td class="number" data-title="In/min">
        {rate(job.arrival_per_minute)}
      </td>
      <td class="number" data-title="Out/min">
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
      {job.state === "paused" && (
        <Link to={withQuery({ do: `resume.${job.job_id}` })} class="button">
          Resume…
        </Link>
      )}
    </span>
  );
}

/** The overview asks for a lower priority of the job that fills the queues most. */
function wantedOf(jobs: QueueJob[]) {
  const fullest = jobs.find((one) => one.depth > 0 && one.state === "active");
  if (place.value.query.get("do") === "low") return fullest ? { action: "low" as const, id: fullest.job_id } : null;
  return actionIn(place.value.query);
}
