/** The current time, as a signal that ticks once a second while the page is visible. */

import { signal } from "@preact/signals";

export const now = signal(new Date());
export const isVisible = signal(!document.hidden);

setInterval(() => {
  if (!document.hidden) now.value = new Date();
}, 1000);

document.addEventListener("visibilitychange", () => {
  isVisible.value = !document.hidden;
  if (isVisible.value) now.value = new Date();
});
