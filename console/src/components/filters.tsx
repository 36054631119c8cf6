/** The filter bar of a list: a search field, a select per filter, and a removable chip per active filter. */

import { useEffect, useRef, useState } from "preact/hooks";
import { place, setQuery } from "../router";
import { Icon } from "./icon";
import { words } from "./status";

export interface Filter {
  /** The name in the address and in the API's query. */
  name: string;
  title: string;
  /** The allowed values, or none for free text. */
  options?: readonly string[];
}

const TYPING_MS = 250;
/** Parameters of the address that are no filters. */
const OTHERS = new Set(["tab", "do", "sort", "operation", "span"]);

interface Props {
  filters: Filter[];
  /** The parameter that the search field sets. */
  search?: { name: string; placeholder: string };
  /** Parameters of the address that are not filters. */
  others?: readonly string[];
  children?: preact.ComponentChildren;
}

export function Filters({ filters, search, others = [], children }: Props) {
  const { query } = place.value;
  const known = new Set([...filters.map((one) => one.name), search?.name]);
  const active = filters.filter((one) => query.get(one.name));
  const unknown = [...query.keys()].filter((name) => !known.has(name) && !OTHERS.has(name) && !others.includes(name));
  return (
    <search class="filters chips">
      {search && <Search {...search} />}
      {active.map((filter) => (
        <Chip key={filter.name} title={filter.title} value={query.get(filter.name) ?? ""} name={filter.name} />
      ))}
      {unknown.map((name) => (
        <Chip key={name} title={`${name} (unknown)`} value={query.get(name) ?? ""} name={name} />
      ))}
      <AddFilter filters={filters.filter((one) => !query.get(one.name) || one.options)} />
      {children}
    </search>
  );
}

function Chip({ title, value, name }: { title: string; value: string; name: string }) {
  return (
    <span class="chip">
      {title} <b>{value.split(",").map(words).join(", ")}</b>
      <button type="button" aria-label={`Remove the filter ${title}`} onClick={() => setQuery({ [name]: null })}>
        <Icon name="close" />
      </button>
    </span>
  );
}

function Search({ name, placeholder }: { name: string; placeholder: string }) {
  const current = place.value.query.get(name) ?? "";
  const [text, setText] = useState(current);
  const sent = useRef(current);
  useEffect(() => {
    if (current !== sent.current) setText(current);
    sent.current = current;
  }, [current]);
  useEffect(() => {
    if (text === sent.current) return undefined;
    const timer = setTimeout(() => {
      sent.current = text;
      setQuery({ [name]: text.trim() || null }, { replace: true });
    }, TYPING_MS);
    return () => clearTimeout(timer);
  }, [text, name]);
  return (
    <span class="searchbox">
      <Icon name="search" />
      <input
        class="input"
        type="search"
        data-search
        aria-label={placeholder}
        placeholder={placeholder}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </span>
  );
}

function AddFilter({ filters }: { filters: Filter[] }) {
  const [chosen, choose] = useState<Filter | null>(null);
  if (filters.length === 0) return null;
  if (chosen) return <Value filter={chosen} close={() => choose(null)} />;
  return (
    <label class="add-filter">
      <span class="visually-hidden">Add a filter</span>
      <select
        class="input"
        value=""
        onChange={(event) => choose(filters.find((one) => one.name === event.currentTarget.value) ?? null)}
      >
        <option value="">+ Filter</option>
        {filters.map((one) => (
          <option key={one.name} value={one.name}>
            {one.title}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Focus the field that appears where the user has just chosen a filter. */
function focus(field: HTMLElement | null): void {
  field?.focus();
}

function Value({ filter, close }: { filter: Filter; close: () => void }) {
  const before = place.value.query.get(filter.name);
  const apply = (value: string) => {
    close();
    const isAdded = filter.options && before;
    if (value.trim()) setQuery({ [filter.name]: isAdded ? `${before},${value}` : value.trim() });
  };
  const label = `${filter.title} is${before ? " also" : ""}`;
  return (
    <span class="add-filter">
      <span>{label}</span>
      {filter.options ? (
        <select
          class="input"
          aria-label={label}
          ref={focus}
          onChange={(event) => apply(event.currentTarget.value)}
          onBlur={close}
        >
          <option value="">…</option>
          {filter.options
            .filter((option) => !before?.split(",").includes(option))
            .map((option) => (
              <option key={option} value={option}>
                {words(option)}
              </option>
            ))}
        </select>
      ) : (
        <input
          class="input"
          aria-label={label}
          ref={focus}
          onKeyDown={(event) => event.key === "Enter" && apply(event.currentTarget.value)}
          onBlur={close}
        />
      )}
    </span>
  );
}
