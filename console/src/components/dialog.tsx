/** A modal question whose button says what will happen. Its presence is in the address (`do=`), so Back closes it. */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Problem } from "../api/problem";
import { setQuery } from "../router";

interface Props {
  title: string;
  /** The verb on the button. */
  verb: string;
  isDanger?: boolean;
  /** Whether there is nothing to confirm yet. */
  isDisabled?: boolean;
  children: ComponentChildren;
  /** Raises `Problem`, which is shown in the dialog. */
  onConfirm: () => Promise<void>;
}

export function closeDialog(): void {
  setQuery({ do: null, day: null, restore: null }, { replace: true });
}

export function Dialog({ title, verb, isDanger = false, isDisabled = false, children, onConfirm }: Props) {
  const ref = useRef<HTMLDialogElement>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  useLayoutEffect(() => {
    ref.current?.showModal();
  }, []);

  const confirm = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    try {
      await onConfirm();
    } catch (error) {
      setProblem(error instanceof Problem ? error.message : String(error));
      setBusy(false);
    }
  };
  const submitOnShortcut = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.metaKey || event.ctrlKey))
      (event.currentTarget as HTMLFormElement).requestSubmit();
  };
  return (
    <dialog ref={ref} aria-labelledby="dialog-title" onClose={closeDialog}>
      <form onSubmit={confirm} onKeyDown={submitOnShortcut}>
        <h2 id="dialog-title">{title}</h2>
        {children}
        {problem && (
          <p class="error" role="alert">
            {problem}
          </p>
        )}
        <footer>
          <button type="button" class="button" onClick={() => ref.current?.close()}>
            Close
          </button>
          <button type="submit" class={`button ${isDanger ? "is-danger" : "is-main"}`} disabled={isBusy || isDisabled}>
            {verb}
          </button>
        </footer>
      </form>
    </dialog>
  );
}
