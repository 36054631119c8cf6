/** The title of the view, in the top bar and in the browser's tab. */

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

export interface Title {
  text: string;
  parents: { text: string; to: string }[];
}

export const title = signal<Title>({ text: "", parents: [] });

export function useTitle(text: string, ...parents: Title["parents"]): void {
  const key = JSON.stringify(parents);
  useEffect(() => {
    title.value = { text, parents: JSON.parse(key) };
    document.title = `${text} · Punctual`;
  }, [text, key]);
}
