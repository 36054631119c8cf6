/** The parts of a browser that modules read when they are imported, for unit tests. */

import { vi } from "vitest";

const CONSOLE = "https://punctual.test/v1/console";

/** Open the page at a path below the console. Returns what the page left for, and what it stored. */
export function stubPage(path = "/"): { left: URL[]; stored: Map<string, string> } {
  const left: URL[] = [];
  const stored = new Map<string, string>();
  const page = new EventTarget();
  let here = new URL(CONSOLE + path);
  const go = (_state: unknown, _title: string, to: string) => {
    here = new URL(to, here);
  };
  vi.stubGlobal("document", Object.assign(new EventTarget(), { baseURI: `${CONSOLE}/`, getElementById: () => null }));
  vi.stubGlobal("window", Object.assign(page, { scrollTo: () => {} }));
  vi.stubGlobal("addEventListener", page.addEventListener.bind(page));
  vi.stubGlobal("history", { replaceState: go, pushState: go });
  vi.stubGlobal("location", {
    assign: (to: string) => left.push(new URL(to)),
    get origin() {
      return here.origin;
    },
    get pathname() {
      return here.pathname;
    },
    get search() {
      return here.search;
    },
  });
  vi.stubGlobal("sessionStorage", {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => stored.set(key, value),
    removeItem: (key: string) => stored.delete(key),
  });
  return { left, stored };
}

/** An answer of the API. */
export function answer(body: unknown, status = 200, headers: Record<string, string> = {}): Response {
  const isEmpty = status === 204 || status === 304;
  return new Response(isEmpty ? null : JSON.stringify(body), { status, headers });
}
