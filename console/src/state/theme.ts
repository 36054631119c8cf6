/** Light, dark or system theme, kept in the browser. */

import { computed, effect, signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";
export const THEMES: Theme[] = ["system", "light", "dark"];
const KEY = "punctual-theme";
const systemDark = matchMedia("(prefers-color-scheme: dark)");
const isSystemDark = signal(systemDark.matches);
systemDark.addEventListener("change", (event) => {
  isSystemDark.value = event.matches;
});

export const theme = signal<Theme>(stored());
export const isDark = computed(() => (theme.value === "system" ? isSystemDark.value : theme.value === "dark"));

effect(() => {
  document.documentElement.dataset.theme = isDark.value ? "dark" : "light";
  localStorage.setItem(KEY, theme.value);
});

function stored(): Theme {
  const value = localStorage.getItem(KEY);
  return value === "light" || value === "dark" ? value : "system";
}
