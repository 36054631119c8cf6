/** Keyboard shortcuts of the whole console, and the list of all keys (`?`). */

import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { navigate } from "../router";
import { mayOperate } from "../state/me";
import { viewKeys } from "../state/view-keys";
import { freshness } from "../state/watch";

const GO: Record<string, string> = {
  o: "/",
  j: "/jobs",
  c: "/calendar",
  e: "/executions",
  d: "/deadlines",
  q: "/queues",
  l: "/lane",
  t: "/tasks",
};
const CHORD_MS = 1_500;

export const KEYS: [string, string][] = [
  ["⌘K or Ctrl K", "search or jump to"],
  ["g then o, j, e, c, d, q, l, t", "overview, jobs, executions, calendar, deadlines, queues, long lane, tasks"],
  ["c", "new job"],
  ["/", "search in the list"],
  ["j, k or ↓, ↑", "next and previous row"],
  ["Enter", "open the row"],
  ["x", "select the row"],
  ["t, then d, w or m", "calendar: today, day, week, month"],
  ["r", "read again"],
  ["Esc", "close, or clear the selection"],
  ["?", "this list"],
];

interface Actions {
  openPalette: () => void;
  openHelp: () => void;
}

/** Listen to the shortcuts. Keys typed into a field belong to the field. */
export function useShortcuts({ openPalette, openHelp }: Actions): void {
  const prefixedAt = useRef(0);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        openPalette();
        return;
      }
      if (
        event.metaKey ||
        event.ctrlKey ||
        event.altKey ||
        isTyping(event.target) ||
        document.querySelector("dialog[open]")
      )
        return;
      const isChord = Date.now() - prefixedAt.current < CHORD_MS;
      prefixedAt.current = event.key === "g" ? Date.now() : 0;
      const target = isChord ? GO[event.key] : undefined;
      const own = viewKeys.value[event.key];
      if (target) navigate(target);
      else if (own && !isChord) own();
      else if (event.key === "?") openHelp();
      else if (event.key === "c" && mayOperate.value) navigate("/jobs/new");
      else if (event.key === "r") freshness.value.reload();
      else if (event.key === "/") document.querySelector<HTMLInputElement>("[data-search]")?.focus();
      else return;
      event.preventDefault();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [openPalette, openHelp]);
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches("input, textarea, select, [contenteditable]");
}

export function Help({ close }: { close: () => void }) {
  const ref = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    ref.current?.showModal();
  }, []);
  return (
    <dialog ref={ref} aria-labelledby="help-title" onClose={close}>
      <form method="dialog">
        <h2 id="help-title">Keys</h2>
        <dl class="details">
          {KEYS.map(([keys, meaning]) => (
            <>
              <dt key={keys}>{keys}</dt>
              <dd>{meaning}</dd>
            </>
          ))}
        </dl>
        <footer>
          <button type="submit" class="button is-main">
            Close
          </button>
        </footer>
      </form>
    </dialog>
  );
}
