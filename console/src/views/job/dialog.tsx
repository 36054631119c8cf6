/** The dialogs of a job: each shows its dry run before anything is written. */

import { send } from "../../api/client";
import type { Job, RunResponse } from "../../api/types";
import { closeDialog, Dialog } from "../../components/dialog";
import { DryRun } from "../../components/dry-run";
import { say } from "../../components/toasts";
import { place } from "../../router";
import { nameOf } from "../jobs/view";

const DAY_MS = 86_400_000;

interface Question {
  title: string;
  verb: string;
  text: string;
  method: string;
  path: string;
  isDanger?: boolean;
  done: string;
}

const QUESTIONS: Record<string, Question> = {
  run: {
    title: "Run now",
    verb: "Run now",
    text: "One more execution, in addition to the schedule. The overlap rule applies.",
    method: "POST",
    path: "run",
    done: "Started",
  },
  pause: {
    title: "Pause",
    verb: "Pause the job",
    text: "Executions that have not started are skipped. Running ones continue.",
    method: "POST",
    path: "pause",
    done: "Paused",
  },
  resume: {
    title: "Resume",
    verb: "Resume the job",
    text: "Instants that came due in the pause follow the misfire rule.",
    method: "POST",
    path: "resume",
    done: "Resumed",
  },
  backfill: {
    title: "Backfill",
    verb: "Backfill the day",
    text: "Runs the due instants of the day that have no execution, or only failed ones, one after the other.",
    method: "POST",
    path: "backfill",
    done: "Backfilling",
  },
  cancel: {
    title: "Cancel",
    verb: "Cancel the job",
    text: "The job creates no more executions. Waiting ones are cancelled, running ones are asked to stop. This cannot be undone.",
    method: "PUT",
    path: "cancel",
    isDanger: true,
    done: "Cancelled",
  },
};

export function JobDialog({ job, reload }: { job: Job; reload: () => void }) {
  const question = QUESTIONS[place.value.query.get("do") ?? ""];
  if (!question) return null;
  const path = `/jobs/${job.job_id}/${question.path}`;
  const body = question.path === "backfill" ? backfillOf(place.value.query.get("day") ?? "") : undefined;
  const confirm = async () => {
    const sent = await send<RunResponse | Job>(question.method, path, body);
    closeDialog();
    reload();
    if ("execution" in sent.data) {
      say(`${nameOf(job)}: ${sent.data.outcome}`, {
        text: "Open",
        to: `/executions/${sent.data.execution.execution_id}`,
      });
    } else {
      say(`${question.done}: ${nameOf(job)}`);
    }
  };
  return (
    <Dialog
      title={`${question.title} ${nameOf(job)}?`}
      verb={question.verb}
      isDanger={question.isDanger ?? false}
      onConfirm={confirm}
    >
      <p>{question.text}</p>
      <DryRun method={question.method} path={path} body={body} />
    </Dialog>
  );
}

/** The missing and failed instants of a day in UTC, as the heat map counts them. */
function backfillOf(day: string) {
  const from = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(from.getTime())) return { from: day, to: day, which: "missing_and_failed" };
  const end = Math.min(from.getTime() + DAY_MS, Date.now());
  return { from: from.toISOString(), to: new Date(end).toISOString(), which: "missing_and_failed" };
}
