/** The long lane: make room, and continue from a checkpoint. */

import { confirm, expect, show, test, unique } from "./stack";

interface Run {
  execution_id: string;
  status: string;
  progress: { percent: number } | null;
  attempts: { outcome: string | null }[];
}

test("room is made, and a cancelled execution continues from its checkpoint", async ({ page, open, submit, call }) => {
  const name = unique("makes-room");
  const parameters = { dataset: "orders", week_of: "2026-11-10", seconds: 120 };
  const job = await submit({ name, task: "quality.weekly", lane: "long", preemptible: true, parameters });
  const runs = async () => (await call<{ items: Run[] }>("GET", `/jobs/${job.job_id}/executions`)).items;
  const read = (id: string) => call<Run>("GET", `/executions/${id}`);
  const advanced = async (id: string, percent: number) =>
    expect.poll(async () => (await read(id)).progress?.percent ?? 0).toBeGreaterThan(percent);
  await expect.poll(async () => (await runs()).length).toBe(1);
  const id = (await runs())[0]?.execution_id ?? "";
  await advanced(id, 2);

  await open("/lane");
  const row = page.getByRole("table", { name: "Runs now" }).getByRole("row").filter({ hasText: name });
  await row.getByRole("link", { name: "Make room…" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByText(/^Dry run, just now: .* stops/)).toBeVisible();
  await dialog.getByRole("button", { name: "Release its slots" }).click();
  await expect(dialog).toHaveCount(0);
  await expect.poll(async () => (await read(id)).attempts.map((one) => one.outcome)).toContain("preempted");

  await show(page, `/executions/${id}`);
  const { progress } = await read(id);
  await advanced(id, progress?.percent ?? 0); // it continues where it was
  await page.getByRole("link", { name: "Cancel…" }).click();
  await confirm(page, "Cancel the execution");
  await page.getByRole("link", { name: "Retry…" }).click();
  await expect(dialog.getByLabel("From the checkpoint")).toBeChecked();
  const { progress: reached } = await read(id);
  await confirm(page, "Run again");
  await expect(page).toHaveURL(new RegExp(`${id}-2`));
  await expect.poll(async () => (await read(`${id}-2`)).progress).not.toBeNull();
  expect((await read(`${id}-2`)).progress?.percent).toBeGreaterThanOrEqual(reached?.percent ?? 100);
  await call("PUT", `/executions/${id}-2/cancel`);
});
