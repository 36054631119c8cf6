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
import "./styles/log.css";
import "./styles/calendar.css";
import "./styles/calendar-marks.css";
import "./styles/calendar-panels.css";
import "./styles/lane.css";
import "./styles/queues.css";
import "./styles/tasks.css";
import "./state/zone";
import { render } from "preact";
import { start } from "./api/auth";
import { read } from "./api/client";
import { Problem } from "./api/problem";
import { App } from "./app";
import { Failed } from "./components/states";
import { type Me, me } from "./state/me";

const root = document.getElementById("app") as HTMLElement;

async function open(): Promise<void> {
  try {
    if (!(await start())) return; // the browser leaves for the sign-in page
    me.value = (await read<Me>("/me")).data;
    render(<App />, root);
  } catch (error) {
    const problem =
      error instanceof Problem ? error : new Problem(0, error instanceof Error ? error.message : String(error));
    render(<Failed what="The console" problem={problem} retry={() => location.reload()} />, root);
  }
}

open();
