/** A table of items, each with an address: rows open by click or key, and can be selected across pages. */

import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { navigate } from "../router";
import type { List } from "../state/list";
import { type Selection, toggled } from "../state/selection";
import { Link } from "./link";
import { LoadMore } from "./load-more";

export interface Column<T> {
  title: string;
  cell: (item: T) => ComponentChildren;
  class?: string;
}

interface Props<T> {
  label: string;
  list: List<T>;
  columns: Column<T>[];
  idOf: (item: T) => string;
  /** The address of an item. Its first column links to it. */
  to: (item: T) => string;
  selection?: Selection | undefined;
  /** Which items can be selected: those whose actions the user may perform. */
  isSelectable?: (item: T) => boolean;
  nameOf?: (item: T) => string;
}

export function Table<T>({
  label,
  list,
  columns,
  idOf,
  to,
  selection,
  isSelectable = () => true,
  nameOf = idOf,
}: Props<T>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const last = useRef<string | null>(null);
  const [isSelecting, setSelecting] = useState(false);
  const order = list.items.filter(isSelectable).map(idOf);
  const toggle = (id: string, isRange: boolean) => {
    selection?.set(toggled(selection.ids, id, order, isRange ? last.current : null));
    last.current = id;
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.metaKey || event.ctrlKey || event.altKey) return;
    const rows = [...(body.current?.rows ?? [])];
    const position = rows.indexOf((document.activeElement as HTMLElement)?.closest("tr") as HTMLTableRowElement);
    const offset = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
    const item = list.items[position];
    if (offset) rows[Math.max(0, Math.min(rows.length - 1, position + offset))]?.focus();
    else if (event.key.toLowerCase() === "x" && item && isSelectable(item)) toggle(idOf(item), event.shiftKey);
    else if (event.key === "Enter" && item && event.target === rows[position]) navigate(to(item));
    else if (event.key === "Escape") selection?.set(new Set());
    else return;
    event.preventDefault();
  };
  const areAll = order.length > 0 && order.every((id) => selection?.ids.has(id));
  return (
    <>
      {selection && (
        <button type="button" class="button wide-hidden" onClick={() => setSelecting(!isSelecting)}>
          {isSelecting ? "Stop selecting" : "Select"}
        </button>
      )}
      <div class="scroll card">
        <table class={`table is-cards ${isSelecting ? "is-selecting" : ""}`} aria-label={label}>
          <thead>
            <tr>
              {selection && (
                <th class="tick">
                  <input
                    type="checkbox"
                    aria-label="Select all rows that are loaded"
                    checked={areAll}
                    ref={(box) => {
                      if (box) box.indeterminate = !areAll && selection.ids.size > 0;
                    }}
                    onChange={() => selection.set(areAll ? new Set() : new Set([...selection.ids, ...order]))}
                  />
                </th>
              )}
              {columns.map((column) => (
                <th key={column.title} scope="col" class={column.class}>
                  {column.title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody ref={body} onKeyDown={onKey}>
            {list.items.map((item, position) => {
              const id = idOf(item);
              const isSelected = isSelectable(item) && (selection?.isAll || selection?.ids.has(id));
              return (
                <tr key={id} tabIndex={position === 0 ? 0 : -1} class={isSelected ? "is-selected" : undefined}>
                  {selection && (
                    <td class="tick">
                      {isSelectable(item) && (
                        <input
                          type="checkbox"
                          aria-label={`Select ${nameOf(item)}`}
                          checked={isSelected}
                          onClick={(event) => toggle(id, event.shiftKey)}
                        />
                      )}
                    </td>
                  )}
                  {columns.map((column, index) => (
                    <td key={column.title} class={column.class} data-label={index === 0 ? undefined : column.title}>
                      {index === 0 ? (
                        <Link to={to(item)} class="name" tabIndex={-1}>
                          {column.cell(item)}
                        </Link>
                      ) : (
                        column.cell(item)
                      )}
                    </td>
                  ))}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      <LoadMore of={list} />
    </>
  );
}
