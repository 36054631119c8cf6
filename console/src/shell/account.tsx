/** The signed-in user: role, theme, zone, sign-out. */

import { useState } from "preact/hooks";
import { signOut } from "../api/auth";
import { Icon } from "../components/icon";
import { zone } from "../format/time";
import { me } from "../state/me";
import { THEMES, type Theme, theme } from "../state/theme";

const ZONES = ["UTC", ...Intl.supportedValuesOf("timeZone").filter((name) => name !== "UTC")];

export function Account() {
  const [isOpen, setOpen] = useState(false);
  const close = (event: KeyboardEvent) => {
    if (event.key === "Escape") setOpen(false);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes the menu wherever the focus is inside it
    <div class="account" onKeyDown={close}>
      {isOpen && (
        <div class="menu account-menu">
          <Preferences />
        </div>
      )}
      <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span class="initials" aria-hidden="true">
          {(me.value?.subject ?? "?").slice(0, 2).toUpperCase()}
        </span>
        <span class="who">
          <span>{me.value?.subject ?? "…"}</span>
          <span class="note">{me.value?.role}</span>
        </span>
        <Icon name="more" label="Preferences and sign-out" />
      </button>
    </div>
  );
}

export function Preferences() {
  return (
    <section class="preferences" aria-label="Preferences">
      <fieldset class="segments" aria-label="Theme">
        {THEMES.map((one) => (
          <label key={one}>
            <input type="radio" name="theme" checked={theme.value === one} onChange={() => choose(one)} />
            {one.charAt(0).toUpperCase() + one.slice(1)}
          </label>
        ))}
      </fieldset>
      <label class="field">
        <span class="label">Time zone</span>
        <select class="input" value={zone.value} onChange={(event) => (zone.value = event.currentTarget.value)}>
          {ZONES.map((name) => (
            <option key={name} value={name}>
              {name.replaceAll("_", " ")}
            </option>
          ))}
        </select>
      </label>
      <dl class="details note">
        <dt>Signed in</dt>
        <dd>{me.value?.subject}</dd>
        <dt>Role</dt>
        <dd>{me.value?.role}</dd>
        <dt>Teams</dt>
        <dd>{me.value?.teams.map((team) => team.name).join(", ") || "None"}</dd>
      </dl>
      <button type="button" class="button" onClick={signOut}>
        Sign out
      </button>
    </section>
  );
}

function choose(next: Theme): void {
  theme.value = next;
}
