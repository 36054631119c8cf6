/** The shell around the views, and the table of addresses. */

import type { ComponentType } from "preact";
import { useCallback, useState } from "preact/hooks";
import { Link } from "./components/link";
import { Empty } from "./components/states";
import { Toasts } from "./components/toasts";
import { match, place } from "./router";
import { Preferences } from "./shell/account";
import { Help, useShortcuts } from "./shell/keys";
import { BottomBar, Sidebar } from "./shell/navigation";
import { Palette } from "./shell/palette";
import { TopBar } from "./shell/topbar";
import { GROUPS } from "./shell/views";
import { maySubmit } from "./state/me";
import { useTitle } from "./state/title";
import { CalendarView } from "./views/calendar/view";
import { DeadlinesView } from "./views/deadlines/view";
import { ExecutionView } from "./views/execution/view";
import { ExecutionsView } from "./views/executions/view";
import { JobView } from "./views/job/view";
import { JobFormView } from "./views/job-form/view";
import { JobsView } from "./views/jobs/view";
import { LaneView } from "./views/lane/view";
import { OverviewView } from "./views/overview/view";
import { QueuesView } from "./views/queues/view";
import { TasksView } from "./views/tasks/view";

// biome-ignore lint/suspicious/noExplicitAny: each view declares the parameters of its own address
const VIEWS: [string, ComponentType<any>][] = [
  ["/", OverviewView],
  ["/jobs", JobsView],
  ["/jobs/new", JobFormView],
  ["/jobs/:id", JobView],
  ["/jobs/:id/edit", JobFormView],
  ["/executions", ExecutionsView],
  ["/executions/:id", ExecutionView],
  ["/calendar", CalendarView],
  ["/deadlines", DeadlinesView],
  ["/queues", QueuesView],
  ["/lane", LaneView],
  ["/tasks", TasksView],
];

type Overlay = "palette" | "actions" | "help" | "more" | null;

export function App() {
  const [overlay, setOverlay] = useState<Overlay>(null);
  const openPalette = useCallback(() => setOverlay("palette"), []);
  const openActions = useCallback(() => setOverlay("actions"), []);
  const openHelp = useCallback(() => setOverlay("help"), []);
  // A dialog reports its end in a task of its own: by then another one may be open.
  const closePalette = useCallback(() => setOverlay((shown) => (shown === "palette" ? null : shown)), []);
  const closeActions = useCallback(() => setOverlay((shown) => (shown === "actions" ? null : shown)), []);
  const closeHelp = useCallback(() => setOverlay((shown) => (shown === "help" ? null : shown)), []);
  useShortcuts({ openPalette, openActions, openHelp });
  return (
    <div class="shell">
      <button type="button" class="skip" onClick={() => document.getElementById("main")?.focus()}>
        Skip to the content
      </button>
      <Sidebar />
      <div class="page">
        <TopBar openPalette={openPalette} />
        <main id="main" tabIndex={-1}>
          {overlay === "more" ? <More /> : <CurrentView />}
        </main>
      </div>
      <BottomBar openMore={() => setOverlay(overlay === "more" ? null : "more")} />
      {overlay === "palette" && <Palette close={closePalette} openHelp={openHelp} />}
      {overlay === "actions" && <Palette close={closeActions} openHelp={openHelp} isForActions />}
      {overlay === "help" && <Help close={closeHelp} />}
      <Toasts />
    </div>
  );
}

function CurrentView() {
  const { path } = place.value;
  for (const [pattern, View] of VIEWS) {
    const found = match(pattern, path);
    if (found) return <View key={path} {...found} />;
  }
  return <Unknown />;
}

function Unknown() {
  useTitle("Not found");
  return (
    <Empty title="This page does not exist">
      <p>The address may be incomplete, or the view is not part of this version.</p>
      <Link to="/" class="button">
        Go to the overview
      </Link>
    </Empty>
  );
}

/** What the tab bar of a narrow screen has no room for. */
function More() {
  return (
    <div class="stack">
      {maySubmit.value && (
        <Link to="/jobs/new" class="button is-main">
          New job
        </Link>
      )}
      <nav class="card more" aria-label="All views">
        {GROUPS.flat().map((entry) => (
          <Link key={entry.to} to={entry.to}>
            {entry.title}
          </Link>
        ))}
      </nav>
      <div class="card">
        <Preferences />
      </div>
    </div>
  );
}
