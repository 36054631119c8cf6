/** The pictures of the documentation: `make pictures`, on a stack that `make demo` has filled. */

import { expect, type Job, show, test } from "./stack";

const { PICTURES } = process.env;
const SIZES = { "": { width: 1440, height: 900 }, "-360": { width: 360, height: 800 } };
const NARROW = ["overview", "jobs", "execution"];
/** The job of the demo that is at risk while it runs, and the one with a history of weeks. */
const [AT_RISK, WEEKLY] = ["refunds-week", "weekly-quality-orders"];

test.skip(!PICTURES, "no folder for the pictures is given");

test("the views of the documentation", async ({ page, open, call }) => {
  const jobs = (await call<{ items: Job[] }>("GET", "/jobs?limit=100")).items;
  const idOf = (name: string) => jobs.find((one) => one.name === name)?.job_id ?? "";
  const running = await runningOf(idOf(AT_RISK), call);
  const views = {
    overview: "",
    jobs: "/jobs",
    job: `/jobs/${idOf(WEEKLY)}`,
    execution: `/executions/${running}`,
    calendar: "/calendar?span=day",
  };
  await page.emulateMedia({ reducedMotion: "reduce" });
  await snoozeAlarmsOfSpeed(call);
  await open("");
  // a headless browser reserves the width of a scrollbar, also at the size of a phone
  await page.locator("html").evaluate((html) => {
    html.style.scrollbarGutter = "auto";
    html.style.scrollbarWidth = "none";
  });
  for (const [name, view] of Object.entries(views)) {
    await show(page, view);
    await expect(page.getByText(/^Loading/)).toHaveCount(0);
    for (const theme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme: theme });
      await expect(page.locator("html")).toHaveAttribute("data-theme", theme);
      for (const [suffix, size] of Object.entries(SIZES)) {
        if (suffix && !NARROW.includes(name)) continue;
        await page.setViewportSize(size);
        await expect(page.getByRole("button", { name: /ago$|now$/ })).toBeVisible();
        const path = `${PICTURES}/console-${name}${theme === "dark" ? "-dark" : ""}${suffix}.png`;
        await page.screenshot({ path });
      }
    }
  }
});

/** Alarms that say how fast the machine of the stack is, not what the demo does. */
const OF_SPEED = /DispatchLate|OldestMessage|BacklogDrainTime|StreamBehind|SweepBehind|TickMissed/;

async function snoozeAlarmsOfSpeed(call: <T>(method: string, path: string, data?: unknown) => Promise<T>) {
  const { attention } = await call<{ attention: { id: string; subject: { id: string } }[] }>("GET", "/overview");
  const until = new Date(Date.now() + 3_600_000).toISOString();
  for (const { id } of attention.filter((one) => OF_SPEED.test(one.subject.id)))
    await call("PUT", `/attention/${encodeURIComponent(id)}`, { state: "snoozed", until });
}

/** An execution of the job that has made progress. A new one is started if none runs. */
async function runningOf(job: string, call: <T>(method: string, path: string) => Promise<T>): Promise<string> {
  interface Run {
    execution_id: string;
    status: string;
    progress: { percent: number } | null;
  }
  const find = async () => {
    const { items } = await call<{ items: Run[] }>("GET", `/jobs/${job}/executions`);
    return items.find((one) => one.status === "running");
  };
  if (!(await find())) await call("POST", `/jobs/${job}/run`);
  await expect.poll(async () => (await find())?.progress?.percent ?? 0).toBeGreaterThan(20);
  return (await find())?.execution_id ?? "";
}
