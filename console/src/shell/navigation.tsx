/** The sidebar, and the tab bar of narrow screens. */

import { config } from "../api/auth";
import { Icon } from "../components/icon";
import { Link } from "../components/link";
import { place } from "../router";
import { dangers } from "../state/dangers";
import { Account } from "./account";
import { GROUPS, type ViewEntry } from "./views";

const NARROW = ["/", "/jobs", "/calendar", "/deadlines"];

export function Sidebar() {
  return (
    <div class="sidebar">
      <nav aria-label="Views">
        <Link to="/" class="brand">
          <span class="logo">
            <Icon name="power" />
          </span>
          <span>Punctual</span>
          <span class="stage">{config.value?.stage}</span>
        </Link>
        {GROUPS.map((entries) => (
          <div class="nav" key={entries[0]?.to}>
            {entries.map((entry) => (
              <Entry key={entry.to} {...entry} />
            ))}
          </div>
        ))}
      </nav>
      <Account />
    </div>
  );
}

export function BottomBar({ openMore }: { openMore: () => void }) {
  const entries = GROUPS.flat().filter((entry) => NARROW.includes(entry.to));
  return (
    <nav class="bottombar" aria-label="Views, narrow">
      {entries.map((entry) => (
        <Entry key={entry.to} {...entry} />
      ))}
      <button type="button" onClick={openMore}>
        <Icon name="menu" />
        <span>More</span>
      </button>
    </nav>
  );
}

function Entry({ to, title, icon, hasCount }: ViewEntry) {
  const count = hasCount ? dangers.value[hasCount] : 0;
  return (
    <Link to={to} aria-current={isCurrent(to) ? "page" : undefined} title={title}>
      <Icon name={icon} />
      <span>{title}</span>
      {count > 0 && (
        <span class="count tint-warn" title={`${count} in danger`}>
          {count}
        </span>
      )}
    </Link>
  );
}

function isCurrent(to: string): boolean {
  const { path } = place.value;
  return to === "/" ? path === "/" : path === to || path.startsWith(`${to}/`);
}
