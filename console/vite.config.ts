import { defineConfig } from "vitest/config";
import { precompress } from "./precompress.js";

/** Addresses in the built page are relative to its `<base>`, which the console function sets for each request. */
export default defineConfig({
  base: "./",
  plugins: [precompress()],
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: { checks: { pluginTimings: false } },
  },
  test: { include: ["src/**/*.test.ts"], environment: "node" },
});
