/** The address of the page: the whole state of a view is in its path and query. */

import { signal } from "@preact/signals";

/** The address of the console, with a trailing slash. The emulator serves it below a path of its own. */
export const BASE = new URL(document.baseURI);

export interface Place {
  /** Below the console, with a leading slash: `/jobs/01m7…`. */
  path: string;
  query: URLSearchParams;
}

export const place = signal<Place>(read());

window.addEventListener("popstate", () => {
  place.value = read();
});

function read(): Place {
  const path = pathBelow(location.pathname);
  return { path: path.length > 1 ? path.replace(/\/+$/, "") : "/", query: new URLSearchParams(location.search) };
}

/** The path of a view below the console, whose own address has no trailing slash. */
export function pathBelow(pathname: string): string {
  return pathname.startsWith(BASE.pathname) ? pathname.slice(BASE.pathname.length - 1) : "/";
}

/** The address to link to. `to` starts with a slash and may have a query. */
export function address(to: string): string {
  const [path = "", query] = to.split("?");
  const full = path === "/" ? BASE.pathname.slice(0, -1) : BASE.pathname + path.slice(1);
  return query ? `${full}?${query}` : full;
}

/** Open a view. Typing replaces the history entry; opening adds one. */
export function navigate(to: string, { replace = false } = {}): void {
  history[replace ? "replaceState" : "pushState"](null, "", address(to));
  const before = place.value.path;
  place.value = read();
  if (place.value.path !== before) {
    window.scrollTo(0, 0);
    document.getElementById("main")?.focus({ preventScroll: true });
  }
}

export type Changes = Record<string, string | null | undefined>;

/** The current address with other query parameters. Null and empty values are left out. */
export function withQuery(changes: Changes): string {
  const query = new URLSearchParams(place.value.query);
  for (const [name, value] of Object.entries(changes)) {
    if (value) query.set(name, value);
    else query.delete(name);
  }
  const text = query.toString();
  return place.value.path + (text ? `?${text}` : "");
}

export function setQuery(changes: Changes, options?: { replace?: boolean }): void {
  navigate(withQuery(changes), options);
}

/** The parameters of `path` if it matches `pattern`, such as `/jobs/:id`. */
export function match(pattern: string, path: string): Record<string, string> | null {
  const wanted = pattern.split("/");
  const given = path.split("/");
  if (wanted.length !== given.length) return null;
  const found: Record<string, string> = {};
  for (const [position, part] of wanted.entries()) {
    const value = given[position] ?? "";
    if (part.startsWith(":")) found[part.slice(1)] = decodeURIComponent(value);
    else if (part !== value) return null;
  }
  return found;
}
