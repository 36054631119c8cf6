/** The selected items of a list, by id: they stay selected when pages are added and when the list is read again. */

import { useState } from "preact/hooks";

export interface Selection {
  ids: ReadonlySet<string>;
  /** Whether everything that matches the filters is selected, also what is not on the page. */
  isAll: boolean;
  /** Select exactly these. */
  set: (ids: ReadonlySet<string>) => void;
  setAll: (isAll: boolean) => void;
}

export function useSelection(): Selection {
  const [{ ids, isAll }, choose] = useState<{ ids: ReadonlySet<string>; isAll: boolean }>({
    ids: new Set(),
    isAll: false,
  });
  return {
    ids,
    isAll,
    set: (next) => choose({ ids: next, isAll: false }),
    setAll: (next) => choose({ ids, isAll: next }),
  };
}

/** `ids` with `id` added or removed; with `from`, everything between the two in `order` is added. */
export function toggled(
  ids: ReadonlySet<string>,
  id: string,
  order: readonly string[] = [],
  from: string | null = null,
): Set<string> {
  const next = new Set(ids);
  const [start, end] = [order.indexOf(from ?? ""), order.indexOf(id)].sort((a, b) => a - b);
  if (from !== null && start !== undefined && end !== undefined && start >= 0) {
    for (const one of order.slice(start, end + 1)) next.add(one);
  } else if (!next.delete(id)) next.add(id);
  return next;
}
