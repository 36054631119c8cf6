/** A step of the build: beside each file, its compressed copies, so that the console function never compresses. */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";

/** The page is left out: the console function fills in its base. */
const COMPRESSED = /\.(css|js|svg)$/;

/** @returns {import("vite").Plugin} */
export function precompress() {
  return {
    name: "precompress",
    apply: "build",
    writeBundle({ dir = "dist" }) {
      const names = readdirSync(dir, { recursive: true, encoding: "utf8" });
      for (const path of names.filter((name) => COMPRESSED.test(name)).map((name) => join(dir, name))) {
        const content = readFileSync(path);
        writeFileSync(`${path}.br`, brotliCompressSync(content));
        writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
      }
    },
  };
}
