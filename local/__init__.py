"""Punctual on this machine: the same stack, deployed with the same commands to an AWS emulator."""
