/** One execution: result, log, attempts, events, and running it again. */

import { readFileSync } from "node:fs";
import type { Page } from "@playwright/test";
import { confirm, type Execution, expect, show, test, unique, YEARLY } from "./stack";

test("an execution is run again with other parameters, and its result is shown", async ({
  page,
  open,
  submit,
  ended,
}) => {
  const job = await submit({ name: "run-again", parameters: { amount: 1 } });
  const { execution_id: id } = await ended(job);
  await open(`/executions/${id}?tab=result`);
  await expect(page.getByRole("main").getByText('"amount": 1')).toBeVisible();
  const result = await downloaded(page, () => page.getByRole("button", { name: "Download" }).click());
  expect(result).toEqual({ name: `${id}.json`, text: '{\n  "amount": 1\n}' });
  await page.getByRole("link", { name: "Run again with changes…" }).click();
  await page.getByRole("dialog").getByLabel("Parameters").fill('{"amount": 2}');
  await confirm(page, "Run again");
  await expect(page).toHaveURL(new RegExp(`${id}-2`));
  await expect(page.getByRole("main").getByText("Succeeded").first()).toBeVisible();
  await page.getByRole("tab", { name: "Result" }).click();
  await expect(page.getByRole("main").getByText('"amount": 2')).toBeVisible();
});

test("a failed execution shows its error per attempt and its events, and is retried", async ({
  page,
  open,
  submit,
  ended,
}) => {
  const job = await submit({ name: "failed-once", task: "fail", parameters: { times: 9 }, retry: { max_attempts: 1 } });
  const { execution_id: id } = await ended(job);
  await open(`/executions/${id}?tab=attempts`);
  await expect(page.getByRole("region", { name: "Verdict" })).toBeVisible();
  await expect(page.getByRole("tabpanel").or(page.getByRole("main")).getByText("Failed").first()).toBeVisible();
  await page.getByRole("tab", { name: "Events" }).click();
  await expect(
    page
      .getByRole("main")
      .getByText(/failed/i)
      .first(),
  ).toBeVisible();
  await page.getByRole("link", { name: "Retry…" }).click();
  await confirm(page, "Run again");
  await expect(page).toHaveURL(new RegExp(`${id}-2`));
  await expect(page.getByRole("heading", { name: "failed-once" })).toBeVisible();
});

test("the log is searched, and filtered by level", async ({ page, open, submit, ended }) => {
  const job = await submit({ name: "logged", task: "steps", parameters: { seconds: [0, 0, 0] } });
  const { execution_id: id } = await ended(job);
  await open(`/executions/${id}`);
  const log = page.getByRole("log", { name: "Log" });
  await expect(log.getByText("step 1 of 3")).toBeVisible();
  await page.getByRole("searchbox", { name: "Search this log" }).fill("step 2");
  await page.keyboard.press("Enter");
  await expect(log.getByText("step 1 of 3")).toHaveCount(0);
  await expect(log.getByText("step 2 of 3")).toBeVisible();
  await show(page, `/executions/${id}?level=ERROR`);
  await expect(page.getByText("No line matches")).toBeVisible();
  const file = await downloaded(page, () => page.getByRole("button", { name: "Download the log" }).click());
  expect(file.name).toBe(`${id}.log.jsonl`);
  const messages = file.text.split("\n").map((line) => JSON.parse(line).message);
  expect(messages).toEqual(expect.arrayContaining(["step 1 of 3", "step 2 of 3", "step 3 of 3"])); // also what the filter hides
});

test("the timeline shows an execution before its start, and what happened to one that has ended", async ({
  page,
  open,
  submit,
  call,
  ended,
}) => {
  const job = await submit({ name: unique("in-the-timeline"), schedule: YEARLY });
  const list = `/jobs/${job.job_id}/executions`;
  await expect.poll(async () => (await call<{ items: Execution[] }>("GET", list)).items.length).toBe(1);
  const [planned] = (await call<{ items: Execution[] }>("GET", list)).items;
  await open(`/executions/${planned?.execution_id}`);
  const timeline = page.getByRole("region", { name: "Timeline" });
  await expect(timeline.getByRole("img", { name: /^Execution: Scheduled\. .* Due/ })).toBeVisible();
  await call("POST", `/jobs/${job.job_id}/run`);
  const { execution_id: id } = await ended(job);
  await show(page, `/executions/${id}`);
  const row = timeline.getByRole("img", { name: /^Execution: Succeeded.* Requested.* Attempt 1: succeeded after/ });
  await expect(row).toBeVisible();
  const points = row.locator(".point");
  const all = await points.count();
  await timeline.getByRole("button", { name: "Zoom in" }).click();
  await expect(page).toHaveURL(/zoom=/);
  await expect.poll(() => points.count()).toBeLessThan(all); // it begins with its request, which is left out now
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("-");
  await expect(page).not.toHaveURL(/zoom=/);
  await expect(points).toHaveCount(all);
});

/** The file that an action downloads. */
async function downloaded(page: Page, act: () => Promise<void>): Promise<{ name: string; text: string }> {
  const [download] = await Promise.all([page.waitForEvent("download"), act()]);
  return { name: download.suggestedFilename(), text: readFileSync(await download.path(), "utf8") };
}
