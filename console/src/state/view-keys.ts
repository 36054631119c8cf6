/** The keys that the visible view adds to those of the console. */

import { signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";

export const viewKeys = signal<Record<string, () => void>>({});

/** Listen to `keys` while the view is visible. They may change with each rendering. */
export function useViewKeys(keys: Record<string, () => void>): void {
  useLayoutEffect(() => {
    viewKeys.value = keys;
  });
  useLayoutEffect(
    () => () => {
      viewKeys.value = {};
    },
    [],
  );
}
