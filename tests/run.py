"""Runs the test suites side by side: ``python -m tests.run [SUITE…]``, by default all of them.

Suites that share nothing run at the same time: the end-to-end tests mostly wait, the others mostly compute. Progress
is one line per suite and step. Failures are printed last, each with the command that runs only that test.
"""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOGS = ROOT / ".build" / "tests"
PYTEST = (sys.executable, "-m", "pytest", "-q")
OPTIONS = {
    "unit": ("--numprocesses", "2"),
    "model": (),
    "simulator": (),
    "infrastructure": (),
    "integration": ("--numprocesses", "2"),
    "e2e": ("--numprocesses", "4", "--dist", "loadfile"),
}
TRACKS = (("e2e",), ("unit", "model", "simulator", "infrastructure", "integration"))
"""Tracks run in parallel, the suites of a track one after the other."""
PROGRESS = re.compile(r"\[ *(\d+)%\]\s*$")
RUN_ALONE = "run it alone: "
REPORTED = "seeds of the day: "
"""Begins a line of a test's output that is shown also if the test passes."""
COUNT = re.compile(r"(\d+) (passed|failed|error|skipped)")
STEP = 20
"""Percent between two lines of progress."""
START = time.monotonic()


@dataclass
class Suite:
    name: str
    exit_code: int | None = None
    counts: dict[str, int] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)

    @property
    def log(self) -> Path:
        return LOGS / f"{self.name}.log"

    def run(self) -> None:
        began, shown = time.monotonic(), 0
        say(f"{self.name}: started")
        command = (*PYTEST, *OPTIONS[self.name], f"tests/{self.name}")
        with self.log.open("w") as log:
            process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            assert process.stdout is not None
            for line in process.stdout:
                log.write(line)
                log.flush()
                if (found := PROGRESS.search(line)) and shown + STEP <= int(found[1]) < 100:
                    shown = int(found[1])
                    say(f"{self.name}: {shown}%")
                if line.startswith(REPORTED):
                    say(f"{self.name}: {line.strip()}")
                if line.startswith(RUN_ALONE):
                    self.failed.append(line.removeprefix(RUN_ALONE).strip())
        self.exit_code = process.wait()
        self.counts = {kind: int(count) for count, kind in COUNT.findall(_last_line(self.log))}
        state = "passed" if self.exit_code == 0 else "FAILED"
        say(f"{self.name}: {state} in {time.monotonic() - began:.0f} s: {_last_line(self.log)}")


def _last_line(log: Path) -> str:
    lines = [line for line in log.read_text().splitlines() if COUNT.search(line)]
    return lines[-1].strip("= ") if lines else "no test ran"


def say(text: str) -> None:
    print(f"{time.monotonic() - START:6.0f} s  {text}", flush=True)


def main(names: list[str]) -> int:
    LOGS.mkdir(parents=True, exist_ok=True)
    suites = {name: Suite(name) for track in TRACKS for name in track if not names or name in names}

    def follow(track: tuple[str, ...]) -> None:
        for name in track:
            if name in suites:
                suites[name].run()

    threads = [threading.Thread(target=follow, args=(track,)) for track in TRACKS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    broken = [suite for suite in suites.values() if suite.exit_code]
    for suite in broken:
        print(f"\n── {suite.name}: the end of {suite.log.relative_to(ROOT)}")
        print("\n".join(suite.log.read_text().splitlines()[-150:]))
    for suite in broken:
        print(f"\nFAILED in {suite.name}; run one of these alone:", *suite.failed, sep="\n    ")
    passed = sum(suite.counts.get("passed", 0) for suite in suites.values())
    failed = sum(suite.counts.get(kind, 0) for suite in suites.values() for kind in ("failed", "error"))
    print(f"\n{passed} passed, {max(failed, len(broken))} failed")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
