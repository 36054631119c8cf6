/** The views of the console: in the navigation, in the palette, and by key. Only views that exist are listed. */

import type { IconName } from "../components/icon";

export interface ViewEntry {
  to: string;
  title: string;
  icon: IconName;
  /** Opens it after `g`. */
  letter: string;
  hasCount?: "attention" | "deadlines" | "queues";
}

export const GROUPS: ViewEntry[][] = [
  [
    { to: "/", title: "Overview", icon: "home", letter: "o", hasCount: "attention" },
    { to: "/jobs", title: "Jobs", icon: "jobs", letter: "j" },
    { to: "/executions", title: "Executions", icon: "executions", letter: "e" },
    { to: "/calendar", title: "Calendar", icon: "calendar", letter: "c" },
    { to: "/deadlines", title: "Deadlines", icon: "flag", letter: "d", hasCount: "deadlines" },
  ],
  [
    { to: "/queues", title: "Queues", icon: "gauge", letter: "q", hasCount: "queues" },
    { to: "/lane", title: "Long lane", icon: "lane", letter: "l" },
    { to: "/tasks", title: "Tasks", icon: "tasks", letter: "t" },
  ],
];
