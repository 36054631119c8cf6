/** What each role is offered, and that the API refuses what is forced. */

import { actions, type Execution, expect, type Job, show, test, unique, YEARLY } from "./stack";

const OFFERED: Record<string, { job: string[]; execution: string[]; ticks: number; canSubmit: boolean }> = {
  viewer: { job: [], execution: [], ticks: 0, canSubmit: false },
  operator: {
    job: ["Run now…", "Pause…", "Edit", "Cancel…", "Clone"],
    execution: ["Run again with changes…", "Run again…"],
    ticks: 1,
    canSubmit: true,
  },
  admin: {
    job: ["Run now…", "Pause…", "Edit", "Cancel…", "Clone"],
    execution: ["Run again with changes…", "Run again…"],
    ticks: 1,
    canSubmit: true,
  },
  payments: { job: ["Clone"], execution: [], ticks: 0, canSubmit: true },
};
const DAY_MS = 86_400_000;
const REFUSED = { viewer: /requires the role operator/, payments: /team|owner|data-quality/ };

for (const [user, offered] of Object.entries(OFFERED)) {
  test(`${user} is offered what the role permits`, async ({ page, open, submit, call, ended }) => {
    const name = unique(`offered-to-${user}`);
    const { job, execution } = await ranOnce(name, submit, call, ended);
    await open(`/jobs/${job.job_id}`, user);
    await expect(page.getByRole("heading", { name })).toBeVisible();
    await expect(actions(page)).toHaveText(offered.job);
    await expect(page.getByRole("banner").getByRole("link", { name: "New job" })).toHaveCount(
      offered.canSubmit ? 1 : 0,
    );
    await show(page, `/executions/${execution.execution_id}`);
    await expect(page.getByRole("heading", { name })).toBeVisible();
    await expect(actions(page)).toHaveText(offered.execution);
    for (const [view, filter] of [
      ["jobs", `name=${name}&state=active`],
      ["executions", `job_id=${job.job_id}&status=succeeded`],
    ]) {
      await show(page, `/${view}?${filter}`);
      const rows = page.getByRole("main").locator("tbody").getByRole("row");
      await expect(rows).toHaveCount(1);
      await expect(rows.getByRole("checkbox")).toHaveCount(offered.ticks);
    }
    if (offered.ticks === 0) return;
    await page.getByRole("checkbox", { name: `Select ${name}` }).check();
    const bulk = page.getByRole("region", { name: "Selected executions" });
    await expect(bulk.getByRole("button", { name: /…$/ })).toHaveText(["Retry…", "Cancel…"]);
  });
}

for (const [user, reason] of Object.entries(REFUSED)) {
  test(`whatever ${user} forces is refused with the reason`, async ({ page, open, submit, call, ended }) => {
    const { job, execution } = await ranOnce(unique(`forced-by-${user}`), submit, call, ended);
    const day = new Date(Date.now() - DAY_MS).toISOString().slice(0, 10);
    const [ofJob, ofExecution] = [`/jobs/${job.job_id}`, `/executions/${execution.execution_id}`];
    await open(ofJob, user);
    const dialog = page.getByRole("dialog");
    const stored = async () => [await call("GET", ofJob), await call("GET", `${ofJob}/executions`)];
    const before = await stored();
    for (const [view, verb] of [
      [`${ofJob}?do=run`, "Run now"],
      [`${ofJob}?do=pause`, "Pause the job"],
      [`${ofJob}?do=resume`, "Resume the job"],
      [`${ofJob}?do=cancel`, "Cancel the job"],
      [`${ofJob}?do=backfill&day=${day}`, "Backfill the day"],
      [`${ofExecution}?do=retry`, "Run again"],
      [`${ofExecution}?do=again`, "Run again"],
      [`${ofExecution}?do=cancel`, "Cancel the execution"],
    ] as const) {
      await show(page, view);
      await dialog.getByRole("button", { name: verb, exact: true }).click();
      await expect(dialog.getByRole("alert").last(), view).toHaveText(reason);
    }
    await show(page, `${ofJob}/edit`);
    await page.getByText("High", { exact: true }).click();
    await expect(page.getByRole("alert").filter({ hasText: reason })).not.toHaveCount(0);
    await page.getByRole("button", { name: "Save" }).click();
    await expect(page.locator(".toast").getByText(reason)).toBeVisible();
    expect(await stored()).toEqual(before);
  });
}

async function ranOnce(
  name: string,
  submit: (job: Record<string, unknown>) => Promise<Job>,
  call: (method: string, path: string) => Promise<unknown>,
  ended: (job: Job) => Promise<Execution>,
): Promise<{ job: Job; execution: Execution }> {
  const job = await submit({ name, schedule: YEARLY });
  await call("POST", `/jobs/${job.job_id}/run`);
  return { job, execution: await ended(job) };
}
