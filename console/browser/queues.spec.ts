/** Queues: the jobs that fill them, and the remedies. */

import { confirm, expect, type Job, test, unique } from "./stack";

test("a job that fills a queue gets a lower priority, and is paused", async ({
  page,
  open,
  submit,
  call,
  measured,
}) => {
  const name = unique("fills-a-queue");
  await submit({ name: unique("takes-messages-as-well"), task: "queue.process", schedule: { queue: true } });
  const job = await submit({ name, task: "queue.process", schedule: { queue: true } });
  const stored = () => call<Job>("GET", `/jobs/${job.job_id}`);
  await measured();
  const ofOneJob = (url: URL) => url.pathname.endsWith("/queues") && !url.pathname.includes("/console");
  await page.route(ofOneJob, (route) => route.continue({ url: `${route.request().url()}&limit=1` }));
  await open("/queues");
  const fillers = page.getByRole("table", { name: "Who fills the queues" }).locator("tbody").getByRole("row");
  await expect(fillers).toHaveCount(1);
  await page.getByRole("button", { name: "Load more" }).click();
  await expect(fillers).toHaveCount(2);
  await page.unroute(ofOneJob);
  await page.keyboard.press("r");
  const row = page.getByRole("row").filter({ hasText: name });
  await row.getByRole("link", { name: "Set to low…" }).click();
  await confirm(page, "Set to low");
  await expect(page.getByText(`${name} has the priority low`)).toBeVisible();
  expect(await stored()).toMatchObject({ priority: "low", state: "active" });
  await row.getByRole("link", { name: "Pause…" }).click();
  await confirm(page, "Pause the job");
  await expect(page.getByText(`${name} is paused`)).toBeVisible();
  await measured(); // the list is that of the last measurement
  await page.keyboard.press("r");
  await expect(row.getByText("Paused")).toBeVisible();
  expect(await stored()).toMatchObject({ state: "paused" });
});
