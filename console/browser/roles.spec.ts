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
  test(`what ${user} forces is refused with the reason`, async ({ page, open, submit, call, ended }) => {
    const { job, execution } = await ranOnce(unique(`forced-by-${user}`), submit, call, ended);
    await open(`/jobs/${job.job_id}?do=pause`, user);
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Pause the job" }).click();
    await expect(dialog.getByRole("alert").last()).toHaveText(reason);
    await show(page, `/executions/${execution.execution_id}?do=retry`);
    await dialog.getByRole("button", { name: "Run again" }).click();
    await expect(dialog.getByRole("alert").last()).toHaveText(reason);
    expect((await call<Job>("GET", `/jobs/${job.job_id}`)).state).toBe("active");
    expect((await ended(job)).execution_id).toBe(execution.execution_id);
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
