/** The command palette: actions of the page, views, jobs by name, and ids. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { read } from "../api/client";
import { Problem } from "../api/problem";
import type { Job, Page } from "../api/types";
import { Icon, type IconName } from "../components/icon";
import { navigate, pathBelow } from "../router";
import { mayOperate } from "../state/me";
import { GROUPS } from "./navigation";

interface Command {
  text: string;
  detail: string;
  icon: IconName;
  to: string;
}

const TYPING_MS = 200;
const JOB_ID = /^[0-9a-z]{26}$/;
const EXECUTION_ID = /^\d{8}T\d{9}Z-[0-9a-z]{26}/;

export function Palette({ close }: { close: () => void }) {
  const [text, setText] = useState("");
  const [jobs, setJobs] = useState<Job[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  const [selected, setSelected] = useState(0);
  const ref = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    ref.current?.showModal();
  }, []);
  useEffect(() => {
    if (text.length < 2) {
      setJobs([]);
      return undefined;
    }
    const timer = setTimeout(() => {
      read<Page<Job>>(`/jobs?name=${encodeURIComponent(text)}&limit=8`)
        .then((answer) => {
          setJobs(answer.data.items);
          setProblem(null);
        })
        .catch((error) => setProblem(error instanceof Problem ? error.message : String(error)));
    }, TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);

  const [actions] = useState(pageActions);
  const commands = [...ids(text), ...matching(actions, text), ...pages(text), ...jobs.map(jobCommand)];
  const current = Math.min(selected, commands.length - 1);
  const open = (command: Command | undefined) => {
    if (!command) return;
    close();
    navigate(command.to);
  };
  const onKey = (event: KeyboardEvent) => {
    const offset = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (offset) setSelected(Math.max(0, Math.min(commands.length - 1, current + offset)));
    else if (event.key === "Enter") open(commands[current]);
    else return;
    event.preventDefault();
  };
  return (
    <dialog ref={ref} class="palette" aria-label="Search or jump to" onClose={close}>
      <input
        class="input"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={commands.length ? `palette-${current}` : undefined}
        aria-label="Search views, jobs and ids"
        placeholder="View, job or id"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKey}
      />
      <div id="palette-list" role="listbox" aria-label="Results">
        {commands.map((command, position) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys of a listbox belong to its combobox
          <div
            key={command.to}
            id={`palette-${position}`}
            role="option"
            tabIndex={-1}
            aria-selected={position === current}
            onClick={() => open(command)}
          >
            <Icon name={command.icon} />
            <span>{command.text}</span>
            <span class="note">{command.detail}</span>
          </div>
        ))}
      </div>
      {problem && (
        <p class="error state" role="alert">
          Jobs were not searched: {problem}
        </p>
      )}
      {commands.length === 0 && !problem && <p class="state">Nothing matches “{text}”.</p>}
    </dialog>
  );
}

function pages(text: string): Command[] {
  const all: Command[] = GROUPS.flat().map((entry) => ({
    text: entry.title,
    detail: "View",
    icon: entry.icon,
    to: entry.to,
  }));
  if (mayOperate.value) all.push({ text: "New job", detail: "Action", icon: "plus", to: "/jobs/new" });
  return matching(all, text);
}

/** What the page offers at its head: only what the role of the user may do. */
function pageActions(): Command[] {
  const links = document.querySelectorAll<HTMLAnchorElement>("main .head .actions a");
  return [...links].map((link) => ({
    text: link.textContent ?? "",
    detail: "On this page",
    icon: "right",
    to: pathBelow(link.pathname) + link.search,
  }));
}

function matching(commands: Command[], text: string): Command[] {
  return commands.filter((one) => one.text.toLowerCase().includes(text.toLowerCase()));
}

function ids(text: string): Command[] {
  const id = text.trim();
  if (EXECUTION_ID.test(id)) return [{ text: id, detail: "Execution", icon: "executions", to: `/executions/${id}` }];
  if (JOB_ID.test(id)) return [{ text: id, detail: "Job", icon: "jobs", to: `/jobs/${id}` }];
  return [];
}

function jobCommand(job: Job): Command {
  return { text: job.name || job.task, detail: `Job, ${job.owner}`, icon: "jobs", to: `/jobs/${job.job_id}` };
}
