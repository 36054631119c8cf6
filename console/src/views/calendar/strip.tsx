/** Six weeks: on each day the runs that need attention, clock changes and skipped dates. A day opens its week. */

import { useEffect, useMemo, useRef } from "preact/hooks";
import type { CalendarJob, ClockChange } from "../../api/types";
import { Icon } from "../../components/icon";
import { Link } from "../../components/link";
import { type Day, dayOf, dayWords } from "../../format/days";
import { zone } from "../../format/time";
import { withQuery } from "../../router";
import type { Range } from "./range";
import { countByDay, type DayCount, hueOf, iconOf, isBad, isInDanger, runsOf } from "./runs";
import { alarmOfDay, clockChangeWords, volumeOfDay } from "./words";

interface Props {
  days: Day[];
  range: Range;
  today: Day;
  jobs: CalendarJob[];
  changes: ClockChange[];
}

export function Strip({ days, range, today, jobs, changes }: Props) {
  const counts = useMemo(() => countByDay(jobs.flatMap(runsOf), zone.value), [jobs, zone.value]);
  const changesOf = (day: Day) => changes.filter((one) => dayOf(Date.parse(one.at), zone.value) === day);
  const belows = days.map((day) => {
    const changed = changesOf(day);
    return changed.length ? clockChangeWords(changed) : counts.get(day)?.excluded ? "skipped" : "";
  });
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const first = ref.current?.querySelector<HTMLElement>(".is-first");
    ref.current?.parentElement?.scrollTo({ left: (first?.offsetLeft ?? 0) - 88 }); // it scrolls on narrow screens
  }, [range.at]);
  const step = (event: KeyboardEvent) => {
    const offset = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 }[event.key];
    if (!offset) return;
    const links = [...(event.currentTarget as HTMLElement).querySelectorAll("a")];
    links[links.indexOf(document.activeElement as HTMLAnchorElement) + offset]?.focus();
    event.preventDefault();
  };
  return (
    <div class="calendar-row calendar-strip">
      <div class="calendar-name">
        <b>Six weeks</b>
        <span class="note">failed, at risk, clock changes, skipped dates</span>
      </div>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the arrows move between its links */}
      <div class="calendar-days" ref={ref} onKeyDown={step}>
        {days.map((day, position) => (
          <StripDay
            key={day}
            day={day}
            isFirst={position === 0 || day.endsWith("-01")}
            isToday={day === today}
            range={range}
            found={counts.get(day)}
            below={belows[position] ?? ""}
            hasRoom={!belows[position - 1] && !belows[position - 2]}
            isSame={belows[position] === belows[position - 1]}
          />
        ))}
      </div>
    </div>
  );
}

interface DayProps {
  day: Day;
  isFirst: boolean;
  isToday: boolean;
  range: Range;
  found: DayCount | undefined;
  /** A clock change, or that dates are skipped. */
  below: string;
  /** Whether `below` can be written out: it is wider than a day. */
  hasRoom: boolean;
  /** Whether the day before says the same. */
  isSame: boolean;
}

function StripDay({ day, isFirst, isToday, range, found, below, hasRoom, isSame }: DayProps) {
  const position = range.days.indexOf(day);
  const name = dayWords(day, { weekday: "short", day: "numeric", month: "short" });
  const said = [name, alarmOfDay(found)?.text, volumeOfDay(found), below].filter(Boolean).join(", ");
  const classes = [
    position >= 0 && "is-shown",
    position === 0 && "is-first",
    position === range.days.length - 1 && "is-last",
    isToday && "is-today",
  ];
  return (
    <Link
      to={withQuery({ at: isToday ? null : day, do: null })}
      class={classes.filter(Boolean).join(" ")}
      aria-current={isToday ? "date" : undefined}
      title={said}
    >
      <span class="visually-hidden">{said}</span>
      <span class="calendar-month" aria-hidden="true">
        {isFirst ? dayWords(day, { month: "short" }) : ""}
      </span>
      <span class="calendar-weekday" aria-hidden="true">
        {dayWords(day, { weekday: "narrow" })}
      </span>
      <span class="calendar-date" aria-hidden="true">
        {Number(day.slice(8))}
      </span>
      <DayMark found={found} />
      <span class="calendar-below" aria-hidden="true">
        {hasRoom ? below : below && !isSame ? "·" : ""}
      </span>
    </Link>
  );
}

function DayMark({ found }: { found: DayCount | undefined }) {
  const worst = found?.worst;
  if (!worst) return <i class="dot is-none" />;
  if (isBad(worst) || isInDanger(worst))
    return (
      <span class={`hue-${hueOf(worst)}`}>
        <Icon name={iconOf(worst)} />
      </span>
    );
  return <i class={found.ended ? "dot is-past" : "dot"} />;
}
