/** The parts of Node.js that the browser tests use: `@types/node` would add its globals to the console's own sources. */

declare const process: { env: Record<string, string | undefined> };

declare module "node:fs" {
  export function readFileSync(path: string, encoding: "utf8"): string;
}

declare module "node:module" {
  export function createRequire(from: string): { resolve(name: string): string };
}
