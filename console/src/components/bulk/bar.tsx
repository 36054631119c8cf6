/** The selection of a list and what can be done with it: by the selected rows, or by all that match the filters. */

import { count, plural } from "../../format/duration";
import { place, setQuery } from "../../router";
import type { Selection } from "../../state/selection";
import { Icon } from "../icon";
import { CHOICES, choiceOf, type Kind } from "./actions";
import { BulkDialog } from "./dialog";

interface Props {
  kind: Kind;
  selection: Selection;
  /** The filter of the list, or null if it has none: then rows are selected one by one. */
  filter: Record<string, unknown> | null;
  /** The number of items that match, if it is known. */
  total: number | null;
}

const PREFIX = "bulk-";

export function BulkBar({ kind, selection, filter, total }: Props) {
  const { ids, isAll } = selection;
  if (ids.size === 0 && !isAll) return null;
  const wanted = place.value.query.get("do") ?? "";
  const choice = wanted.startsWith(PREFIX) ? choiceOf(kind, wanted.slice(PREFIX.length)) : undefined;
  const noun = kind.slice(0, -1);
  return (
    <>
      <section class="bulk" aria-label={`Selected ${kind}`} aria-live="polite">
        <b>{isAll ? `All${total === null ? "" : ` ${count(total)}`} that match` : `${count(ids.size)} selected`}</b>
        {filter && !isAll && (
          <button type="button" class="underlined" onClick={() => selection.setAll(true)}>
            Select all{total === null ? "" : ` ${count(total)}`} that match
          </button>
        )}
        {CHOICES[kind].map((one) => (
          <button type="button" key={one.action} onClick={() => setQuery({ do: PREFIX + one.action })}>
            {one.verb.replace(" of", "")}…
          </button>
        ))}
        <button type="button" aria-label="Clear the selection" onClick={() => selection.set(new Set())}>
          <Icon name="close" />
        </button>
      </section>
      {choice && (
        <BulkDialog
          kind={kind}
          choice={choice}
          items={isAll && filter ? { filter } : { ids: [...ids] }}
          titleOf={(found) => `${choice.verb} ${plural(found, noun)}`}
          onStarted={() => selection.set(new Set())}
        />
      )}
    </>
  );
}
