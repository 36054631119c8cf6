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

const DIALOGS = (job: string, execution: string) => [
  ...["run", "pause", "cancel"].map((action) => `/jobs/${job}?do=${action}`),
  ...["retry", "again"].map((action) => `/executions/${execution}?do=${action}`),
];
const WIDTHS = [360, 1440];
const OF_COLOUR = ["color-contrast", "link-in-text-block"];

test("no view and no dialog has an accessibility violation", async ({ page, open, submit, call, ended }) => {
  const views = await everyView("accessible", submit, call, ended);
  const [job = "", execution = ""] = [views.at(-3), views.at(-1)].map((view) => view?.split("/")[2]);
  await open("");
  const found: Record<string, string[]> = {};
  /** All rules in the light theme, and those about colour in the dark one. */
  const check = async (name: string) => {
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      for (const theme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
        await expect(page.locator("html")).toHaveAttribute("data-theme", theme);
        const violations = await violationsOf(page, theme === "dark" ? OF_COLOUR : null);
        if (violations.length) found[`${name} ${width} ${theme}`] = violations;
      }
    }
  };
  for (const view of [...views, ...DIALOGS(job, execution)]) {
    await show(page, view);
    if (view.includes("do=")) await expect(page.getByText("Dry run, just now")).toBeVisible();
    await check(view);
  }
  await show(page, "/jobs");
  await page.keyboard.press("?");
  await check("keys");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await check("palette");
  await page.keyboard.press("Escape");
  await page.getByRole("checkbox", { name: "Select all rows that are loaded" }).check();
  await page.getByRole("button", { name: "Pause…" }).click();
  await expect(page.getByText(/^Dry run, just now/)).toBeVisible();
  await check("bulk dialog");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Preferences and sign-out" }).click();
  await check("account");
  expect(found).toEqual({});
});

/** Lists and the calendar use the whole window, beside the sidebar; other views are at most 1400 pixels wide. */
const FULL_WIDTH = ["/jobs", "/executions", "/calendar"];
const SIDEBAR = 216;
const MOST_CONTENT = 1400 + 2 * 24;

function excessWidth(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}

function widthOfContent(page: Page): Promise<number | "all"> {
  return page.getByRole("main").evaluate((main, sidebar) => {
    const { width } = main.getBoundingClientRect();
    return width === document.body.getBoundingClientRect().width - sidebar ? "all" : width;
  }, SIDEBAR);
}

test("no view scrolls sideways from 360 to 3840 pixels", async ({ page, open, submit, call, ended }) => {
  const name = "a-job-with-a-rather-long-name-that-must-not-widen-the-page";
  const views = await everyView(name, submit, call, ended);
  await open("");
  for (const view of views) {
    await show(page, view);
    for (const width of [360, 768, 1440, 2560, 3840]) {
      await page.setViewportSize({ width, height: 900 });
      await expect.poll(() => excessWidth(page), { message: `${view} at ${width}` }).toBeLessThanOrEqual(0);
    }
    const isFull = FULL_WIDTH.includes(view);
    expect(await widthOfContent(page), view).toBe(isFull ? "all" : MOST_CONTENT);
  }
});

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
