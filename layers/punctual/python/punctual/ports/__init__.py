"""What the stages need from the world, one small interface per seam. ``aws/`` implements them.

Losing a race is a return value here, never an exception. Every write may be repeated.
"""
