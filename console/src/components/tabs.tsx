/** Tabs whose selection is in the address. */

import { place, withQuery } from "../router";
import { Link } from "./link";

export interface Tab {
  id: string;
  title: string;
  count?: number | undefined;
}

/** The selected tab: the first one unless the address names another. */
export function selectedTab(tabs: Tab[]): string {
  const wanted = place.value.query.get("tab");
  return tabs.some((one) => one.id === wanted) && wanted ? wanted : (tabs[0]?.id ?? "");
}

export function Tabs({ tabs, label }: { tabs: Tab[]; label: string }) {
  const selected = selectedTab(tabs);
  const step = (event: KeyboardEvent) => {
    const offset = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!offset) return;
    const links = [...(event.currentTarget as HTMLElement).querySelectorAll("a")];
    const next = links[links.indexOf(document.activeElement as HTMLAnchorElement) + offset];
    next?.focus();
    next?.click();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} tabIndex={-1} onKeyDown={step}>
      {tabs.map(({ id, title, count }, position) => (
        <Link
          key={id}
          to={withQuery({ tab: position === 0 ? null : id })}
          role="tab"
          aria-selected={id === selected}
          tabIndex={id === selected ? 0 : -1}
        >
          {title} {count !== undefined && <span class="dim">{count}</span>}
        </Link>
      ))}
    </div>
  );
}
