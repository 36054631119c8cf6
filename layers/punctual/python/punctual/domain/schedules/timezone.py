"""Time zones by their IANA names."""

from __future__ import annotations

from datetime import UTC, tzinfo
from functools import cache, lru_cache

from punctual.domain.errors import Invalid
from punctual.domain.suggestion import closest


@cache
def zone_named(name: str) -> tzinfo:
    """Return the time zone with this IANA name. UTC needs no time zone database, which is slow to load."""
    if name == "UTC":
        return UTC
    from zoneinfo import ZoneInfo

    return ZoneInfo(name)


def check_zone(name: str) -> None:
    """Raise ``Invalid``, with the closest known name, if ``name`` is not an IANA time zone."""
    if not isinstance(name, str):
        raise Invalid("schedule.timezone", 'must be text, such as "Europe/Berlin"')
    try:
        known = bool(name) and not name.startswith(("posix", "right/", "local", "Factory")) and zone_named(name)
    except (KeyError, ValueError, OSError):
        known = False
    if not known:
        raise Invalid("schedule.timezone", f"{name[:64]!r} is not an IANA time zone{_suggestion(name[:64])}")


def _suggestion(name: str) -> str:
    zones = {spelling.casefold(): zone for zone in _zones() for spelling in (zone.rpartition("/")[2], zone)}
    close = closest(name.replace(" ", "_").casefold(), zones, cutoff=0.7)
    return f"; did you mean {zones[close]!r}?" if close else ': use a name such as "Europe/Berlin"'


@lru_cache(maxsize=1)
def _zones() -> list[str]:
    from zoneinfo import available_timezones

    return sorted(available_timezones())
