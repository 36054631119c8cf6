"""Calendars: dates on which a schedule does not run if it lists the calendar in ``skip``.

A job keeps the dates that a calendar had when its schedule was submitted. After adding a year here, submit the schedule
again.
"""

from punctual import calendar

# The holidays of the federal government of the United States, on the days on which they are observed.
calendar(
    "holidays-us",
    [
        "2026-01-01",  # New Year's Day
        "2026-01-19",  # Birthday of Martin Luther King, Jr.
        "2026-02-16",  # Washington's Birthday
        "2026-05-25",  # Memorial Day
        "2026-06-19",  # Juneteenth
        "2026-07-03",  # Independence Day, a Saturday
        "2026-09-07",  # Labor Day
        "2026-10-12",  # Columbus Day
        "2026-11-11",  # Veterans Day
        "2026-11-26",  # Thanksgiving Day
        "2026-12-25",  # Christmas Day
        "2027-01-01",
        "2027-01-18",
        "2027-02-15",
        "2027-05-31",
        "2027-06-18",  # Juneteenth, a Saturday
        "2027-07-05",  # Independence Day, a Sunday
        "2027-09-06",
        "2027-10-11",
        "2027-11-11",
        "2027-11-25",
        "2027-12-24",  # Christmas Day, a Saturday
        "2027-12-31",  # New Year's Day of 2028, a Saturday
    ],
)
