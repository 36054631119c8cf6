/** Keyboard shortcuts of the whole console, and the list of all keys (`?`). */

import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { navigate } from "../router";
import { maySubmit } from "../state/me";
import { viewKeys } from "../state/view-keys";
import { readAgain } from "../state/watch";
import { type GlobalKey, GO, KEY_GROUPS } from "./key-table";

const CHORD_MS = 1_500;

interface Actions {
  openPalette: () => void;
  openActions: () => void;
  openHelp: () => void;
}

/** Listen to the shortcuts. Keys typed into a field belong to the field. */
export function useShortcuts({ openPalette, openActions, openHelp }: Actions): void {
  const prefixedAt = useRef(0);
  useEffect(() => {
    const global: Record<GlobalKey, () => void> = {
      "?": openHelp,
      ".": openActions,
      "/": () => document.querySelector<HTMLInputElement>("[data-search]")?.focus(),
      j: () => document.querySelector<HTMLElement>("main tbody tr[tabindex]")?.focus(),
      c: () => maySubmit.value && navigate("/jobs/new"),
      r: readAgain,
    };
    const onKey = (event: KeyboardEvent) => {
      const hasModifier = event.metaKey || event.ctrlKey || event.altKey;
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        openPalette();
        return;
      }
      if (event.defaultPrevented || hasModifier || isTyping(event.target) || document.querySelector("dialog[open]"))
        return;
      const isChord = Date.now() - prefixedAt.current < CHORD_MS;
      prefixedAt.current = event.key === "g" ? Date.now() : 0;
      const target = isChord ? GO[event.key] : undefined;
      const own = isChord ? undefined : viewKeys.value[event.key];
      const act = target ? () => navigate(target) : (own ?? global[event.key as GlobalKey]);
      if (!act) return;
      act();
      event.preventDefault();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [openPalette, openActions, openHelp]);
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
    <dialog ref={ref} class="help" aria-labelledby="help-title" onClose={close}>
      <form method="dialog">
        <h2 id="help-title">Keys</h2>
        <div class="key-groups">
          {KEY_GROUPS.map(({ title, keys }) => (
            <section key={title}>
              <h3>{title}</h3>
              <dl>
                {keys.map(([name, meaning]) => (
                  <div key={name}>
                    <dt>
                      <kbd>{name}</kbd>
                    </dt>
                    <dd>{meaning}</dd>
                  </div>
                ))}
              </dl>
            </section>
          ))}
        </div>
        <footer>
          <button type="submit" class="button is-main">
            Close
          </button>
        </footer>
      </form>
    </dialog>
  );
}
