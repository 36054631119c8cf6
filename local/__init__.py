"""Punctual on this machine: the same stack, deployed with the same commands to an AWS emulator."""

import sys
from pathlib import Path

# The replay routes stream records by the engine's table of triggers (punctual.domain.triggers).
sys.path.append(str(Path(__file__).parents[1] / "layers" / "punctual" / "python"))
