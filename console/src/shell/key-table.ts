/** All keys of the console, in one table: what listens to them takes its keys from here, and `?` lists them. */

import { GROUPS } from "./views";

/** Anywhere, unless a field or a dialog has the focus. */
export const GLOBAL_KEYS = {
  ".": "actions of this page, and of the selected rows",
  "/": "search in the list, or in the log",
  j: "first row of the list",
  c: "new job",
  r: "read again",
  "?": "this list",
} as const;

/** In one view, where they come before those of the console. */
export const VIEW_KEYS = {
  calendar: {
    t: "today",
    d: "day",
    w: "week",
    m: "month",
    "[": "what is before",
    "]": "what is after",
  },
  execution: {
    f: "follow the log, or stop following it",
    l: "next level of the log",
  },
} as const;

export type GlobalKey = keyof typeof GLOBAL_KEYS;
export type KeysOf<View extends keyof typeof VIEW_KEYS> = Record<keyof (typeof VIEW_KEYS)[View], () => void>;

/** Where a key of navigation leads after `g`. */
export const GO: Readonly<Record<string, string>> = Object.fromEntries(
  GROUPS.flat().map(({ letter, to }) => [letter, to]),
);

export interface KeyGroup {
  title: string;
  keys: [keys: string, meaning: string][];
}

export const KEY_GROUPS: KeyGroup[] = [
  {
    title: "Anywhere",
    keys: [
      ["⌘K, Ctrl K", "search or jump to"],
      ...Object.entries(GLOBAL_KEYS),
      ["Esc", "close, or clear the selection"],
    ],
  },
  { title: "Go to", keys: GROUPS.flat().map(({ letter, title }) => [`g ${letter}`, title.toLowerCase()]) },
  {
    title: "Lists",
    keys: [
      ["↓, j", "next row"],
      ["↑, k", "row before"],
      ["Enter", "open the row"],
      ["x", "select the row"],
      ["Shift x", "select the rows up to this one"],
    ],
  },
  {
    title: "Calendar",
    keys: [
      ...Object.entries(VIEW_KEYS.calendar),
      ["↑ ↓ ← →", "move between runs, or days"],
      ["Home, End", "first and last run of the job"],
      ["Enter", "open the run"],
    ],
  },
  {
    title: "Execution and job",
    keys: [
      ...Object.entries(VIEW_KEYS.execution),
      ["+ −", "zoom the timeline, from its buttons"],
      ["← →", "move between tabs, or in the timeline"],
      ["↑ ↓ ← →", "move between days"],
    ],
  },
  {
    title: "Dialogs and forms",
    keys: [
      ["⌘Enter, Ctrl Enter", "confirm, or save"],
      ["Esc", "close"],
    ],
  },
];
