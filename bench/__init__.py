"""What Punctual costs and how punctual it is, measured on a deployed emulator of its own. Run with ``make bench``.

Counts and ratios have limits, and ``make bench`` fails when one is passed; times are only shown, because they say
more about the machine than about Punctual.
"""
