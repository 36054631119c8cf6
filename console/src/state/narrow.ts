/** Whether the window is as narrow as a phone, where some views have another form. */

import { signal } from "@preact/signals";

const query = matchMedia("(max-width: 767px)");

export const isNarrow = signal(query.matches);

query.addEventListener("change", (event) => {
  isNarrow.value = event.matches;
});
