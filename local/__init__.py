"""Punctual on this machine: the same stack, deployed by the same commands onto a local AWS."""
