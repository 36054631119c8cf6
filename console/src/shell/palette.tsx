/** The command palette: actions of the page and of the selection, views, jobs by name, and ids. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { read } from "../api/client";
import { Problem } from "../api/problem";
import type { Job, Page } from "../api/types";
import { Icon } from "../components/icon";
import { navigate } from "../router";
import { type Command, consoleCommands, matching, pageCommands, viewCommands } from "./commands";

const TYPING_MS = 200;
const JOB_ID = /^[0-9a-z]{26}$/;
const EXECUTION_ID = /^\d{8}T\d{9}Z-[0-9a-z]{26}/;
const LEAST_CHARACTERS = 2;

interface Props {
  close: () => void;
  openHelp: () => void;
  /** Whether it opens for the actions of the page only. */
  isForActions?: boolean;
}

export function Palette({ close, openHelp, isForActions = false }: Props) {
  const [text, setText] = useState("");
  const { jobs, problem } = useJobs(text);
  const [selected, setSelected] = useState(0);
  const [actions] = useState(pageCommands);
  const ref = useRef<HTMLDialogElement>(null);
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    ref.current?.showModal();
  }, []);
  const others =
    isForActions && !text ? [] : [...viewCommands(), ...jobs.map(jobCommand), ...consoleCommands(openHelp)];
  const commands = [...ids(text), ...matching([...actions, ...others], text)];
  const current = Math.min(selected, commands.length - 1);
  useEffect(
    () => list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" }),
    [current],
  );
  const open = (command: Command | undefined) => {
    if (!command) return;
    ref.current?.close(); // gives the focus back before the command moves it
    command.run();
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
        aria-label="Search actions, views, jobs and ids"
        placeholder={isForActions ? "Action on this page" : "Action, view, job or id"}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setSelected(0);
        }}
        onKeyDown={onKey}
      />
      <div id="palette-list" role="listbox" aria-label="Results" ref={list}>
        {commands.map((command, position) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys of a listbox belong to its combobox
          <div
            key={`${command.text}${command.detail}${position}`}
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
      {commands.length === 0 && !problem && (
        <p class="state">{text ? `Nothing matches “${text}”.` : "This page has no action for you."}</p>
      )}
    </dialog>
  );
}

/** The jobs whose name begins with the text. */
function useJobs(text: string) {
  const [jobs, setJobs] = useState<Job[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    setProblem(null);
    if (text.trim().length < LEAST_CHARACTERS) {
      setJobs([]);
      return undefined;
    }
    let isOver = false;
    const timer = setTimeout(() => {
      read<Page<Job>>(`/jobs?name=${encodeURIComponent(text.trim())}&limit=8`)
        .then((answer) => !isOver && setJobs(answer.data.items))
        .catch((error) => !isOver && setProblem(error instanceof Problem ? error.message : String(error)));
    }, TYPING_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [text]);
  return { jobs, problem };
}

function ids(text: string): Command[] {
  const id = text.trim();
  const opens = (detail: string, icon: Command["icon"], to: string): Command[] => [
    { text: id, detail, icon, run: () => navigate(to) },
  ];
  if (EXECUTION_ID.test(id)) return opens("Execution", "executions", `/executions/${id}`);
  return JOB_ID.test(id) ? opens("Job", "jobs", `/jobs/${id}`) : [];
}

function jobCommand(job: Job): Command {
  return {
    text: job.name || job.task,
    detail: `Job, ${job.owner}`,
    icon: "jobs",
    run: () => navigate(`/jobs/${job.job_id}`),
  };
}
