/** A table of items, each with an address: rows open by click or key, and can be selected across pages. */

import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { navigate } from "../router";
import type { List } from "../state/list";
import { Link } from "./link";

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
  nameOf?: (item: T) => string;
}

export interface Selection {
  ids: ReadonlySet<string>;
  set: (ids: ReadonlySet<string>) => void;
}

export function Table<T>({ label, list, columns, idOf, to, selection, nameOf = idOf }: Props<T>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const toggle = (id: string) => {
    if (!selection) return;
    const ids = new Set(selection.ids);
    if (!ids.delete(id)) ids.add(id);
    selection.set(ids);
  };
  const onKey = (event: KeyboardEvent) => {
    const rows = [...(body.current?.rows ?? [])];
    const position = rows.indexOf((document.activeElement as HTMLElement)?.closest("tr") as HTMLTableRowElement);
    const offset = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
    const item = list.items[position];
    if (offset) rows[Math.max(0, Math.min(rows.length - 1, position + offset))]?.focus();
    else if (event.key === "x" && item) toggle(idOf(item));
    else if (event.key === "Enter" && item && event.target === rows[position]) navigate(to(item));
    else if (event.key === "Escape") selection?.set(new Set());
    else return;
    event.preventDefault();
  };
  return (
    <>
      <div class="scroll card">
        <table class="table is-cards" aria-label={label}>
          <thead>
            <tr>
              {selection && (
                <th>
                  <span class="visually-hidden">Selected</span>
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
              const isSelected = selection?.ids.has(id);
              return (
                <tr key={id} tabIndex={position === 0 ? 0 : -1} class={isSelected ? "is-selected" : undefined}>
                  {selection && (
                    <td class="tick narrow-hidden">
                      <input
                        type="checkbox"
                        aria-label={`Select ${nameOf(item)}`}
                        checked={isSelected}
                        onChange={() => toggle(id)}
                      />
                    </td>
                  )}
                  {columns.map((column, index) => (
                    <td key={column.title} class={column.class}>
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
      {list.hasMore && (
        <p class="more">
          <button type="button" class="button" disabled={list.isLoading} onClick={list.loadMore}>
            {list.isLoading ? "Loading…" : "Load more"}
          </button>
        </p>
      )}
    </>
  );
}
