"""Benchmarks of cost and lateness, measured on a separate local stack. Run with ``make bench``.

Counts and ratios have limits, and ``make bench`` fails if one is exceeded. Times are only shown, because they depend on
the machine more than on Punctual.
"""
