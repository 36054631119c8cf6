/** Run the missed and failed runs of a day again, of all jobs in view: the dry run of each first, then one click. */

import { useEffect, useState } from "preact/hooks";
import { send } from "../../api/client";
import { Problem } from "../../api/problem";
import type { CalendarJob, Changes } from "../../api/types";
import { closeDialog, Dialog } from "../../components/dialog";
import { dryRunPath } from "../../components/dry-run";
import { complain, say } from "../../components/toasts";
import { type Day, dayWords, plusDays, startOf } from "../../format/days";
import { plural } from "../../format/duration";
import { zone } from "../../format/time";
import { place, withQuery } from "../../router";
import { type Broken, bodyOf, brokenOn, totalOf } from "./broken";

/** The address that asks for the backfill of a day. */
export function backfillOf(day: Day): string {
  return withQuery({ do: "backfill", day });
}

interface Props {
  jobs: CalendarJob[];
  now: number;
  reload: () => void;
}

export function BackfillDay({ jobs, now, reload }: Props) {
  const { query } = place.value;
  const day = query.get("day");
  if (query.get("do") !== "backfill" || !day) return null;
  return <Question key={day} day={day} jobs={jobs} now={now} reload={reload} />;
}

function Question({ day, jobs, now, reload }: Props & { day: Day }) {
  const from = startOf(day, zone.value);
  const to = Math.min(startOf(plusDays(day, 1), zone.value), now);
  const [broken] = useState(() => brokenOn(jobs, from, to)); // what is asked does not change while it is read
  const answers = useDryRuns(broken);
  const wanted = broken.filter(({ job }) => totalOf(answers.get(job.job_id)) > 0);
  const total = wanted.reduce((sum, { job }) => sum + totalOf(answers.get(job.job_id)), 0);
  const confirm = async () => {
    const results = await Promise.allSettled(wanted.map((one) => send("POST", pathOf(one.job), bodyOf(one))));
    const failed = results.filter((one) => one.status === "rejected");
    for (const one of failed) complain(one.reason);
    closeDialog();
    reload();
    if (failed.length < wanted.length)
      say(`${plural(wanted.length - failed.length, "job")} backfilled, ${nameOf(day)}`, {
        text: "Open",
        to: `/executions?origin=backfill&from=${new Date(from).toISOString()}`,
      });
  };
  const isComplete = answers.size === broken.length;
  return (
    <Dialog
      title={`Backfill ${nameOf(day)}?`}
      verb={total > 0 ? `Backfill ${plural(total, "run")}` : "Backfill"}
      onConfirm={confirm}
      isDisabled={!isComplete || total === 0}
    >
      <p>
        Runs the missed and failed due instants of this day again, for the jobs in view, and also skipped and cancelled
        ones between them. Executions that succeeded or are live stay unchanged.
      </p>
      {broken.length === 0 ? (
        <p class="dim">No job of yours in view has a missed or failed run on this day.</p>
      ) : (
        <div class="well" role="status">
          <ul class="stack-small">
            {broken.map(({ job, runs }) => (
              <li key={job.job_id} class="between">
                <span>{job.job_name ?? job.task}</span>
                <span>{inWords(answers.get(job.job_id), runs.length)}</span>
              </li>
            ))}
          </ul>
        </div>
      )}
      <p class="note">
        {isComplete ? "Dry run, just now. Nothing was written." : `Dry run ${answers.size} of ${broken.length}…`}
      </p>
    </Dialog>
  );
}

function nameOf(day: Day): string {
  return dayWords(day, { weekday: "short", day: "numeric", month: "short" });
}

function pathOf(job: CalendarJob): string {
  return `/jobs/${job.job_id}/backfill`;
}

type Answers = ReadonlyMap<string, Changes | Problem>;

/** The dry runs, one after the other. */
function useDryRuns(broken: Broken[]): Answers {
  const [answers, setAnswers] = useState<Answers>(new Map());
  useEffect(() => {
    let isOver = false;
    const askAll = async () => {
      for (const one of broken) {
        const answer = await send<Changes>("POST", dryRunPath(pathOf(one.job)), bodyOf(one)).then(
          (sent) => sent.data,
          (error) => (error instanceof Problem ? error : new Problem(0, String(error))),
        );
        if (isOver) return;
        setAnswers((before) => new Map(before).set(one.job.job_id, answer));
      }
    };
    askAll();
    return () => {
      isOver = true;
    };
  }, []);
  return answers;
}

function inWords(answer: Changes | Problem | undefined, runs: number): string {
  if (answer === undefined) return plural(runs, "run");
  if (answer instanceof Problem) return `Refused: ${answer.message}`;
  const parts = [
    answer.repeat.length && `${answer.repeat.length} again`,
    answer.appear.length && `${answer.appear.length} for the first time`,
    answer.left_out && `${answer.left_out} more`,
  ];
  return parts.filter(Boolean).join(", ") || "nothing to run";
}
