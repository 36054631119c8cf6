/** Names, parameters, logs, results and errors that are markup are shown as text. */

import { expect, openPalette, show, test } from "./stack";

const MARKUP = '<img src=x onerror="window.hostile=1"><script>window.hostile=1</script>';
/** Names that differ, so that each job is found. */
const named = (kind: string) => `${kind} ${MARKUP}`;

test("hostile names, parameters, logs, results and errors are shown as text", async ({
  page,
  open,
  submit,
  call,
  ended,
  measured,
}) => {
  const tags = { kind: MARKUP.slice(0, 40) };
  const returned = await submit({ name: MARKUP, parameters: { text: MARKUP }, tags });
  const logged = await submit({
    name: named("logs"),
    task: "queue.process",
    parameters: { records: [{}], required_fields: [MARKUP] },
  });
  const failed = await submit({
    name: named("fails"),
    task: "http.call",
    parameters: { url: `http://127.0.0.1:1/${MARKUP}` },
  });
  await submit({ name: named("fills"), task: "queue.process", schedule: { queue: true } });
  await submit({ name: named("daily"), schedule: { cron: "*/5 * * * *" }, deadline: { within_seconds: 60 }, tags });
  const late = { parameters: { seconds: 600 }, expected_seconds: 600, deadline: { within_seconds: 2 } };
  const endangered = await submit({ name: named("late"), task: "sleep", ...late });
  const long = await submit({ name: named("long"), task: "sleep", parameters: { seconds: 600 }, lane: "long" });
  const ids: string[] = [];
  for (const job of [returned, logged, failed]) ids.push((await ended(job)).execution_id);
  await measured();
  const main = page.getByRole("main");

  await open(`/jobs/${returned.job_id}`);
  await expect(page.getByRole("heading", { name: MARKUP })).toBeVisible();
  for (const tab of ["history", "definition", "revisions", "graph"])
    await harmless(`/jobs/${returned.job_id}?tab=${tab}`);
  for (const action of ["pause", "cancel", "run"]) await harmless(`/jobs/${endangered.job_id}?do=${action}`);
  for (const tab of ["parameters", "result", "json", "events", "attempts"]) {
    await harmless(`/executions/${ids[0]}?tab=${tab}`);
    await expect(main.getByRole("heading", { name: MARKUP })).toBeVisible();
    if (["parameters", "result", "json"].includes(tab))
      await expect(main.locator("pre").getByText("onerror").first()).toBeVisible();
  }
  await harmless(`/executions/${ids[1]}`);
  await expect(page.getByRole("log").getByText("onerror")).toBeVisible();
  for (const tab of ["log", "attempts", "events"]) await harmless(`/executions/${ids[2]}?tab=${tab}`);
  await harmless(`/jobs/${returned.job_id}/edit`);
  await harmless(`/jobs/new?from=${returned.job_id}`);
  for (const view of [
    "/jobs",
    "/executions",
    "/deadlines",
    "/queues",
    "/lane",
    "/calendar",
    "/calendar?span=month",
    "",
  ]) {
    await harmless(view);
    if (!view.includes("month")) await expect(main.getByText("onerror").first(), view).toBeAttached();
  }
  for (const view of ["/tasks", `/jobs?name=${encodeURIComponent(MARKUP)}&tag=${encodeURIComponent(MARKUP)}`])
    await harmless(view);
  await openPalette(page);
  await page.keyboard.type("late <img");
  await expect(page.getByRole("option", { name: "onerror" })).toBeVisible();
  await expectHarmless();

  for (const job of [endangered, long]) await call("PUT", `/jobs/${job.job_id}/cancel`);

  async function harmless(view: string): Promise<void> {
    await show(page, view);
    await expectHarmless(view);
  }

  async function expectHarmless(view = "palette"): Promise<void> {
    expect(await page.locator("img, main script").count(), view).toBe(0);
    expect(await page.evaluate("window.hostile"), view).toBeUndefined();
  }
});
