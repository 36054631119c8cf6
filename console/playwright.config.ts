import { defineConfig } from "@playwright/test";
import chromium from "@sparticuz/chromium";

/** Limits end only what would never pass, also on a busy machine. */
const PATIENCE = Number(process.env.PATIENCE_MS ?? 120_000);

/** One process for all pages, which a crash of one ends; and WebGL in software, which doubles the processor time of a page. */
const LEFT_OUT = /single-process|gpu|use-gl|angle|swiftshader/;

export default defineConfig({
  testDir: "browser",
  outputDir: "../.build/browser",
  reporter: "line",
  workers: 1,
  timeout: 8 * PATIENCE,
  expect: { timeout: PATIENCE },
  use: {
    actionTimeout: PATIENCE,
    navigationTimeout: PATIENCE,
    locale: "en-GB",
    viewport: { width: 1440, height: 900 },
    launchOptions: {
      executablePath: await chromium.executablePath(),
      args: [...chromium.args.filter((one) => !LEFT_OUT.test(one)), "--disable-gpu", "--disable-software-rasterizer"],
    },
  },
});
