/** The views of a list: those of the console, and those that the user has saved. Each is a query of the address. */

import { useState } from "preact/hooks";
import { navigate, place } from "../../router";
import { forget, normal, type SavedView, save, savedViews } from "../../state/saved-views";
import { Icon } from "../icon";
import { copy } from "../json";
import { Link } from "../link";

interface Props {
  /** The address of the list, such as `/jobs`. */
  list: string;
  standard: SavedView[];
}

export function SavedViews({ list, standard }: Props) {
  const [isNaming, setNaming] = useState(false);
  const own = savedViews.value[list] ?? [];
  const current = normal(place.value.query);
  const selected = [...standard, ...own].find((one) => normal(new URLSearchParams(one.query)) === current);
  const isOwn = selected !== undefined && own.includes(selected);
  return (
    <div class="views">
      <nav class="tabs" aria-label="Saved views">
        {[...standard, ...own].map((view) => (
          <Link
            key={view.name}
            to={view.query ? `${list}?${view.query}` : list}
            aria-current={view === selected ? "page" : undefined}
          >
            {view.name}
          </Link>
        ))}
      </nav>
      <div class="actions">
        {isOwn && (
          <button type="button" class="button is-plain" onClick={() => forget(list, selected.name)}>
            Forget view
          </button>
        )}
        <button type="button" class="button is-plain" onClick={() => copy(location.href, "Link")}>
          <Icon name="link" /> Copy link
        </button>
        {!selected && !isNaming && (
          <button type="button" class="button is-plain" onClick={() => setNaming(true)}>
            <Icon name="star" /> Save view
          </button>
        )}
        {isNaming && <Naming list={list} query={current} close={() => setNaming(false)} />}
      </div>
    </div>
  );
}

function Naming({ list, query, close }: { list: string; query: string; close: () => void }) {
  const [name, setName] = useState("");
  const confirm = (event: Event) => {
    event.preventDefault();
    if (!name.trim()) return;
    save(list, { name: name.trim(), query });
    close();
    navigate(`${list}?${query}`, { replace: true });
  };
  return (
    <form class="chips" onSubmit={confirm} onKeyDown={(event) => event.key === "Escape" && close()}>
      <input
        class="input is-short"
        aria-label="Name of the view"
        placeholder="Name of the view"
        maxLength={40}
        ref={(field) => field?.focus()}
        value={name}
        onInput={(event) => setName(event.currentTarget.value)}
      />
      <button type="submit" class="button is-main">
        Save
      </button>
    </form>
  );
}
