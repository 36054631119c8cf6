/** What the palette offers without asking the API: actions of the page, of the selection and of the row, and views. */

import { signOut } from "../api/auth";
import type { IconName } from "../components/icon";
import { copy } from "../components/json";
import { navigate } from "../router";
import { maySubmit } from "../state/me";
import { THEMES, theme } from "../state/theme";
import { readAgain } from "../state/watch";
import { GROUPS } from "./views";

export interface Command {
  text: string;
  detail: string;
  icon: IconName;
  run: () => void;
}

/** What the page offers now: only what the role of the user may do is there to be found. */
export function pageCommands(): Command[] {
  const main = document.getElementById("main");
  if (!main) return [];
  return [...selectionCommands(main), ...rowCommands(), ...actionCommands(main)];
}

function selectionCommands(main: HTMLElement): Command[] {
  return [...main.querySelectorAll<HTMLElement>(".bulk button")].filter(isUsable).map((button) => ({
    text: nameOf(button),
    detail: main.querySelector(".bulk b")?.textContent ?? "Selection",
    icon: "check",
    run: () => button.click(),
  }));
}

/** Of the row that has the focus. */
function rowCommands(): Command[] {
  const row = document.activeElement?.closest("tr[tabindex]");
  const link = row?.querySelector<HTMLElement>("a.name");
  if (!link) return [];
  const name = nameOf(link);
  const commands: Command[] = [{ text: `Open ${name}`, detail: "Row", icon: "right", run: () => link.click() }];
  const box = row?.querySelector<HTMLInputElement>("input[type=checkbox]");
  if (box)
    commands.push({
      text: `${box.checked ? "Deselect" : "Select"} ${name}`,
      detail: "Row",
      icon: "check",
      run: () => box.click(),
    });
  return commands;
}

const MOST_ACTIONS = 20;

function actionCommands(main: HTMLElement): Command[] {
  const found = [...main.querySelectorAll<HTMLElement>(".actions :is(a, button), .calendar-toolbar > a")];
  return found
    .filter(isUsable)
    .slice(0, MOST_ACTIONS)
    .map((one) => ({ text: nameOf(one), detail: subjectOf(one), icon: "right", run: () => one.click() }));
}

/** What an action is about, if the page has several subjects. */
function subjectOf(action: HTMLElement): string {
  const subject = action.closest("li, tr")?.querySelector("h2 .strong, .name, b");
  return subject?.textContent?.trim() || "On this page";
}

function nameOf(element: HTMLElement): string {
  return (element.textContent?.trim() || element.getAttribute("aria-label") || "").replace(/\s+/g, " ");
}

function isUsable(element: HTMLElement): boolean {
  const isDisabled = element instanceof HTMLButtonElement && element.disabled;
  return !isDisabled && element.checkVisibility() && nameOf(element) !== "";
}

/** The views, and a new job for those who may create one. */
export function viewCommands(): Command[] {
  const views = GROUPS.flat().map(
    ({ title, icon, to, letter }): Command => ({
      text: title,
      detail: `View, g ${letter}`,
      icon,
      run: () => navigate(to),
    }),
  );
  if (!maySubmit.value) return views;
  return [...views, { text: "New job", detail: "Action, c", icon: "plus", run: () => navigate("/jobs/new") }];
}

/** What the console offers everywhere. */
export function consoleCommands(openHelp: () => void): Command[] {
  return [
    { text: "Read again", detail: "Console, r", icon: "retrying", run: readAgain },
    { text: "Copy the link of this page", detail: "Console", icon: "link", run: () => copy(location.href, "Link") },
    { text: "Keys", detail: "Console, ?", icon: "menu", run: openHelp },
    ...THEMES.map(
      (one): Command => ({ text: `Theme: ${one}`, detail: "Console", icon: "more", run: () => (theme.value = one) }),
    ),
    { text: "Sign out", detail: "Console", icon: "user", run: signOut },
  ];
}

/** Those whose text or detail contains each word. */
export function matching(commands: Command[], text: string): Command[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return commands.filter((one) => {
    const content = `${one.text} ${one.detail}`.toLowerCase();
    return words.every((word) => content.includes(word));
  });
}
