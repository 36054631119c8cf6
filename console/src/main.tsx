import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/shell.css";
import "./styles/topbar.css";
import "./styles/layout.css";
import "./styles/controls.css";
import "./styles/table.css";
import "./styles/lists.css";
import "./styles/overlay.css";
import "./styles/charts.css";
import "./styles/overview.css";
import "./styles/deadlines.css";
import "./styles/job.css";
import "./styles/job-form.css";
import "./styles/execution.css";
import "./styles/timeline.css";
import "./styles/log.css";
import "./styles/calendar.css";
import "./styles/calendar-marks.css";
import "./styles/calendar-panels.css";
import "./styles/lane.css";
import "./styles/queues.css";
import "./styles/tasks.css";
import "./state/zone";
import { render } from "preact";
import { isSignedIn, start } from "./api/auth";
import { read } from "./api/client";
import { Problem } from "./api/problem";
import { App } from "./app";
import { Failed } from "./components/states";
import { type Me, me } from "./state/me";
import { ask } from "./state/watch";

const root = document.getElementById("app") as HTMLElement;

/** Whether the user is signed in. If not, the browser leaves for the sign-in page. */
async function open(): Promise<boolean> {
  if (!isSignedIn() && !(await start())) return false;
  me.value = (await read<Me>("/me")).data;
  return true;
}

/** Open the console; while the API is away, say so, and try again. */
function begin(): void {
  const stop = ask(open, (outcome) => {
    if (outcome === true) render(<App />, root);
    if (outcome instanceof Problem) render(<Failed what="The console" problem={outcome} retry={again} />, root);
  });
  const again = () => {
    stop();
    begin();
  };
}

begin();
