"""SVG pictures for the documentation: saving them, and a histogram."""

from __future__ import annotations

from pathlib import Path

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
WIDTH, HEIGHT, MARGIN, BINS = 720, 260, 46, 40
COLOURS = ("#3b6fb6", "#d9822b", "#3a9a5b", "#8a5fb0")


def save(name: str, width: float, height: float, body: list[str]) -> None:
    """Save a picture on a white background, independent of the colours of the page."""
    PICTURES.mkdir(exist_ok=True)
    frame = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif">'
    ground = f'<rect width="{width}" height="{height}" fill="white"/>'
    (PICTURES / f"{name}.svg").write_text("\n".join([frame, ground, *body, "</svg>", ""]))


def histogram(name: str, series: dict[str, list[float]]) -> None:
    """Draw each series as a translucent layer over one axis in seconds."""
    longest = max(2.2, *(max(values) for values in series.values()))
    body = [_axis(longest)]
    for number, (label, values) in enumerate(series.items()):
        body += _layer(values, longest, COLOURS[number])
        body.append(_legend(label, number))
    save(name, WIDTH, HEIGHT, body)


def _layer(values: list[float], longest: float, colour: str) -> list[str]:
    counts = [0] * BINS
    for value in values:
        counts[min(int(value / longest * BINS), BINS - 1)] += 1
    step, tallest = (WIDTH - 2 * MARGIN) / BINS, max(counts)
    bars = []
    for place, count in enumerate(counts):
        tall = count / tallest * (HEIGHT - 2 * MARGIN - 20)
        x, y = MARGIN + place * step, HEIGHT - MARGIN - tall
        bars.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{step - 1:.1f}" height="{tall:.1f}" '
            f'fill="{colour}" fill-opacity="0.6"/>'
        )
    return bars


def _axis(longest: float) -> str:
    base = HEIGHT - MARGIN
    parts = [f'<line x1="{MARGIN}" y1="{base}" x2="{WIDTH - MARGIN}" y2="{base}" stroke="#444"/>']
    for tenth in range(0, int(longest * 2) + 1):
        x = MARGIN + tenth / 2 / longest * (WIDTH - 2 * MARGIN)
        parts.append(f'<text x="{x:.1f}" y="{base + 18}" font-size="12" text-anchor="middle">{tenth / 2:g} s</text>')
    x = MARGIN + 2 / longest * (WIDTH - 2 * MARGIN)
    parts.append(
        f'<line x1="{x:.1f}" y1="{MARGIN - 10}" x2="{x:.1f}" y2="{base}" stroke="#b33" stroke-dasharray="5 4"/>'
        f'<text x="{x:.1f}" y="{MARGIN - 16}" font-size="12" fill="#b33" text-anchor="middle">target</text>'
    )
    return "\n".join(parts)


def _legend(label: str, number: int) -> str:
    y = 18 + 18 * number
    return (
        f'<rect x="{MARGIN}" y="{y - 10}" width="12" height="12" fill="{COLOURS[number]}" fill-opacity="0.6"/>'
        f'<text x="{MARGIN + 18}" y="{y}" font-size="13">{label}: lateness of each start</text>'
    )
