/** Every view: accessibility in both themes, widths, requests and size of its first display. */

import type { Page, Request } from "@playwright/test";
import violationsOf from "./axe";
import { type Execution, expect, type Job, show, test, unique, YEARLY } from "./stack";

const VIEWS = ["", "/jobs", "/executions", "/calendar", "/deadlines", "/queues", "/lane", "/tasks", "/jobs/new"];
const MOST_REQUESTS = 2;
const MOST_BYTES = 120_000;

/** All views, with a job and an execution that have data. */
async function everyView(
  name: string,
  submit: (job: Record<string, unknown>) => Promise<Job>,
  call: (method: string, path: string) => Promise<unknown>,
  ended: (job: Job) => Promise<Execution>,
): Promise<string[]> {
  const job = await submit({ name: unique(name), schedule: YEARLY, task: "steps", parameters: { seconds: [0, 0] } });
  await call("POST", `/jobs/${job.job_id}/run`);
  const { execution_id: id } = await ended(job);
  return [...VIEWS, `/jobs/${job.job_id}`, `/jobs/${job.job_id}/edit`, `/executions/${id}`];
}

for (const theme of ["light", "dark"] as const) {
  test(`no view has an accessibility violation in the ${theme} theme`, async ({ page, open, submit, call, ended }) => {
    await page.emulateMedia({ colorScheme: theme });
    const views = await everyView(`accessible-${theme}`, submit, call, ended);
    await open("");
    const found: Record<string, string[]> = {};
    for (const view of views) {
      await show(page, view);
      const violations = await violationsOf(page);
      if (violations.length) found[view] = violations;
    }
    expect(found).toEqual({});
  });
}

for (const width of [360, 1440]) {
  test(`no view scrolls sideways at ${width} pixels`, async ({ page, open, submit, call, ended, picture }) => {
    await page.setViewportSize({ width, height: 900 });
    const name = `a-job-with-a-rather-long-name-that-must-not-widen-the-page-${width}`;
    const views = await everyView(name, submit, call, ended);
    await open("");
    for (const view of views) {
      await show(page, view);
      const excess = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect(excess, view).toBeLessThanOrEqual(0);
      await picture(`${nameOf(view)}-${width}`);
    }
  });
}

test("each view sends at most two requests for its first display", async ({ page, open, submit, call, ended }) => {
  const views = await everyView("few-requests", submit, call, ended);
  const job = views.find((view) => /^\/jobs\/(?!new)[^/]+$/.test(view));
  views.push(`${job}?tab=revisions`, `${job}?tab=graph`);
  await open("/nothing");
  for (const view of views) {
    await show(page, "/nothing"); // it reads nothing, and stops what the view before reads again and again
    await expect(page.getByText("This page does not exist")).toBeVisible();
    const sent = requestsOf(page);
    await show(page, view);
    await expect(page.getByText("This page does not exist")).toHaveCount(0);
    await expect.poll(() => sent.urls.size > 0 && sent.pending.size === 0, { message: view }).toBe(true);
    expect(sent.urls.size, `${view}: ${[...sent.urls].join(" ")}`).toBeLessThanOrEqual(MOST_REQUESTS);
    sent.stop();
  }
});

test("the first load stays within its budget", async ({ page, open }) => {
  const sizes = new Map<string, number>();
  const encodings = new Set<string | undefined>();
  page.on("response", (response) => {
    if (!response.url().includes("/console/")) return;
    const { "content-length": size, "content-encoding": encoding } = response.headers();
    sizes.set(response.url(), Number(size ?? 0));
    if (response.url().includes("/assets/")) encodings.add(encoding);
  });
  await open("/jobs");
  const assets = [...sizes].filter(([url]) => url.includes("/assets/"));
  expect(assets.length).toBeGreaterThan(0);
  expect(assets.every(([, size]) => size > 0)).toBe(true);
  expect([...encodings]).toEqual(["br"]); // compressed by the build
  expect(assets.some(([url]) => /chart-library|graph/.test(url))).toBe(false); // loaded with the first chart or graph
  expect([...sizes.values()].reduce((total, size) => total + size, 0)).toBeLessThan(MOST_BYTES);
});

/** The addresses that the page reads from the API from now on. Reading one again adds nothing. */
function requestsOf(page: Page) {
  const urls = new Set<string>();
  const pending = new Set<Request>();
  const add = (request: Request) => {
    if (request.method() !== "GET" || /\/console|oauth2|\/me$/.test(request.url())) return;
    urls.add(request.url());
    pending.add(request);
  };
  const remove = (request: Request) => pending.delete(request);
  page.on("request", add).on("requestfinished", remove).on("requestfailed", remove);
  return { urls, pending, stop: () => page.off("request", add) };
}

function nameOf(view: string): string {
  const [, list, id, tab] = view.split("/");
  if (!list) return "overview";
  return id && id !== "new" ? [list.slice(0, -1), tab].filter(Boolean).join("-") : [list, id].filter(Boolean).join("-");
}
