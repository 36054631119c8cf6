/** The viewer's choice of a time zone, kept in the browser. */

import { effect } from "@preact/signals";
import { zone } from "../format/time";

const KEY = "punctual-zone";

const stored = localStorage.getItem(KEY);
if (stored && Intl.supportedValuesOf("timeZone").concat("UTC").includes(stored)) zone.value = stored;

effect(() => localStorage.setItem(KEY, zone.value));
