/** How many things are in danger: the counts beside the views in the sidebar, from the last overview that was read. */

import { signal } from "@preact/signals";

export const dangers = signal({ attention: 0, deadlines: 0, queues: 0 });
