import type { ComponentChildren } from "preact";

interface Props {
  id: string;
  label: string;
  isOptional?: boolean;
  note?: ComponentChildren;
  problem?: string | undefined;
  children: ComponentChildren;
}

/** A labelled input with its hint, or with the API's refusal in place of the hint. */
export function Field({ id, label, isOptional = false, note, problem, children }: Props) {
  return (
    <div class="field">
      <label for={id}>
        {label} {isOptional && <span class="dim">optional</span>}
      </label>
      {children}
      <span id={`${id}-note`} class={problem ? "note error" : "note"}>
        {problem ?? note}
      </span>
    </div>
  );
}
