/** A list of the API: its first page is read again every few seconds, further pages are added on demand. */

import { useState } from "preact/hooks";
import { read } from "../api/client";
import type { Page } from "../api/types";
import { complain } from "../components/toasts";
import { LIST_MS, type Resource, useResource } from "./resource";

export interface List<T, P extends Page<T> = Page<T>> extends Resource<P>, FurtherPages<T> {}

export function useList<T, P extends Page<T> = Page<T>>(
  path: string | null,
  idOf: (item: T) => string,
  everyMs = LIST_MS,
): List<T, P> {
  const first = useResource<P>(path, everyMs);
  return { ...first, ...useFurtherPages<T, P>(path, first.data, idOf, (page) => page) };
}

export interface FurtherPages<T> {
  items: T[];
  hasMore: boolean;
  isLoading: boolean;
  loadMore: () => void;
}

/** The items of the first page, and of further ones on demand; an answer of the API contains a page. */
export function useFurtherPages<T, A>(
  path: string | null,
  first: A | null,
  idOf: (item: T) => string,
  pageOf: (answer: A) => Page<T>,
): FurtherPages<T> {
  const [more, setMore] = useState<{ path: string | null; pages: Page<T>[]; isLoading: boolean }>({
    path,
    pages: [],
    isLoading: false,
  });
  const further = more.path === path ? more.pages : [];
  const pages = first === null ? further : [pageOf(first), ...further];
  const cursor = pages.at(-1)?.cursor;

  const loadMore = async () => {
    if (!path || !cursor || more.isLoading) return;
    setMore({ path, pages: further, isLoading: true });
    try {
      const { data } = await read<A>(`${path}${path.includes("?") ? "&" : "?"}cursor=${encodeURIComponent(cursor)}`);
      setMore({ path, pages: [...further, pageOf(data)], isLoading: false });
    } catch (error) {
      setMore({ path, pages: further, isLoading: false });
      complain(error);
    }
  };
  return { items: joined(pages, idOf), hasMore: Boolean(cursor), isLoading: more.isLoading, loadMore };
}

export interface Total {
  value: number;
  isExact: boolean;
}

/** How many items match, counted once per filter: counting reads more than a page. Null if no index serves the filter. */
export function useTotal(path: string): Total | null {
  const { data } = useResource<Page<unknown>>(path, 0);
  return data?.total == null ? null : { value: data.total, isExact: data.total_is_exact ?? true };
}

/** A new item moves others to the next page: each is shown once, as on the first page, which is read again and again. */
export function joined<T>(pages: Page<T>[], idOf: (item: T) => string): T[] {
  const found = new Map<string, T>();
  for (const item of pages.flatMap((page) => page.items)) if (!found.has(idOf(item))) found.set(idOf(item), item);
  return [...found.values()];
}

/** An API address with the parameters that have a value. */
export function withParameters(path: string, parameters: Record<string, string | null | undefined>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value) query.set(name, value);
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}
