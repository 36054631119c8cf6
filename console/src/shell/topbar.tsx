/** Where the user is, search, the age of what is shown, and the way to a new job. */

import { Icon } from "../components/icon";
import { Link } from "../components/link";
import { coarse } from "../format/duration";
import { abbreviation, cityOf, clock, zone } from "../format/time";
import { now } from "../state/clock";
import { maySubmit } from "../state/me";
import { title } from "../state/title";
import { freshness, readAgain } from "../state/watch";

const OLD_SECONDS = 30;

export function TopBar({ openPalette }: { openPalette: () => void }) {
  const back = title.value.parents.at(-1);
  return (
    <header class="topbar">
      {back && (
        <Link to={back.to} class="button is-plain is-icon narrow-only" aria-label={`Back to ${back.text}`}>
          <Icon name="left" />
        </Link>
      )}
      <nav class="path" aria-label="Path">
        {title.value.parents.map((parent) => (
          <>
            <Link key={parent.to} to={parent.to}>
              {parent.text}
            </Link>
            <Icon name="right" />
          </>
        ))}
        <span aria-current="page">{title.value.text}</span>
      </nav>
      <button type="button" class="button wide-only" onClick={openPalette}>
        <Icon name="search" /> Search or jump to <kbd>⌘K</kbd>
      </button>
      <Age />
      <span class="wide-only zone" title="The time zone of all times: change it in the menu of your account">
        <Icon name="globe" /> {cityOf(zone.value)}
        {zone.value !== abbreviation(now.value) && <span class="dim">{abbreviation(now.value)}</span>}
      </span>
      {maySubmit.value && (
        <Link to="/jobs/new" class="button wide-only">
          <Icon name="plus" /> New job
        </Link>
      )}
      <button type="button" class="button is-plain is-icon narrow-only" aria-label="Search" onClick={openPalette}>
        <Icon name="search" />
      </button>
    </header>
  );
}

function Age() {
  const { at, awaySince } = freshness.value;
  if (awaySince) {
    return (
      <button type="button" class="age is-old" title="Try again" onClick={readAgain}>
        API away since {clock(awaySince)}
      </button>
    );
  }
  if (!at) return null;
  const seconds = Math.max(0, (now.value.getTime() - at.getTime()) / 1000);
  return (
    <button type="button" class={`age${seconds > OLD_SECONDS ? " is-old" : ""}`} title="Read again" onClick={readAgain}>
      <span class="wide-only">Updated</span> {seconds < 1 ? "now" : `${coarse(seconds)} ago`}
    </button>
  );
}
