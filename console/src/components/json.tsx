/** A JSON value as text, with a button that copies it. Never interpreted as markup. */

import { jsonOf } from "../format/json";
import { Icon } from "./icon";
import { Preformatted } from "./preformatted";
import { complain, say } from "./toasts";

export function Json({ value, label = "JSON" }: { value: unknown; label?: string }) {
  return <CopyableText text={jsonOf(value)} label={label} />;
}

export function CopyableText({ text, label }: { text: string; label: string }) {
  return (
    <div class="copyable">
      <button type="button" class="button is-plain" onClick={() => copy(text, label)}>
        <Icon name="copy" /> Copy
      </button>
      <Preformatted text={text} label={label} />
    </div>
  );
}

export async function copy(text: string, label: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say(`${label} copied`);
  } catch {
    complain("The browser did not allow copying.");
  }
}
