/** Named filters of a list, kept in the browser. Their addresses can be shared as links. */

import { signal } from "@preact/signals";

export interface SavedView {
  name: string;
  /** The query of its address, without `?`. */
  query: string;
}

const KEY = "punctual-views";

type All = Record<string, SavedView[]>;

export const savedViews = signal<All>(stored());

function stored(): All {
  try {
    return cleaned(JSON.parse(localStorage.getItem(KEY) ?? "{}"));
  } catch {
    return {};
  }
}

/** What the browser has stored, without what is no view: other versions of the console may have written it. */
export function cleaned(value: unknown): All {
  if (value === null || typeof value !== "object") return {};
  const entries = Object.entries(value).filter((entry): entry is [string, unknown[]] => Array.isArray(entry[1]));
  return Object.fromEntries(entries.map(([list, views]) => [list, views.filter(isView)]));
}

function isView(value: unknown): value is SavedView {
  const { name, query } = (value ?? {}) as Partial<SavedView>;
  return typeof name === "string" && typeof query === "string";
}

/** Add a view to a list, or replace the one with its name. */
export function save(list: string, view: SavedView): void {
  const others = (savedViews.value[list] ?? []).filter((one) => one.name !== view.name);
  store({ ...savedViews.value, [list]: [...others, view] });
}

export function forget(list: string, name: string): void {
  store({ ...savedViews.value, [list]: (savedViews.value[list] ?? []).filter((one) => one.name !== name) });
}

function store(all: All): void {
  savedViews.value = all;
  localStorage.setItem(KEY, JSON.stringify(all));
}

/** A query in one order, without what belongs to the moment: two addresses with the same filters are the same view. */
export function normal(query: URLSearchParams): string {
  const kept = [...query].filter(([name]) => !["do", "operation", "tab"].includes(name));
  return new URLSearchParams(kept.sort(([a], [b]) => a.localeCompare(b))).toString();
}
