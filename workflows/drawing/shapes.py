"""The shapes of a drawing, as SVG text: steps, events, lines with round corners, the tips of arrows."""

from collections.abc import Sequence
from html import escape

from condensery.workflows.drawing.layout import Box, Point

CORNER, TIP, BAR = 6.0, 7.0, 5.0
"""Pixels: the radius of a corner, the length of an arrow's tip, the height of the bar of a join."""

LETTER = {"step": 7.3, "event": 6.7}
"""The width in pixels of one letter of a name: it is drawn just so wide, whatever fixed-width font is there."""

PADDING = {"step": 30.0, "event": 24.0}
NARROWEST = {"step": 104.0, "event": 60.0}


def width_of(kind: str, name: str) -> float:
    """How wide the box of a step or an event is, in pixels."""
    return max(NARROWEST[kind], LETTER[kind] * len(name) + PADDING[kind])


def number(value: float) -> str:
    """A coordinate, to a tenth of a pixel."""
    return f"{round(value, 1):g}"


def rect(box: Box, radius: float, kind: str) -> str:
    """A rectangle of class `kind`."""
    x, y, width, height = map(number, (box.x - box.width / 2, box.top, box.width, box.height))
    return f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="{number(radius)}"/>'


def name(kind: str, text: str, x: float, y: float) -> str:
    """The name of a step or an event, its middle at (x, y)."""
    length = number(LETTER[kind] * len(text))
    return f'<text class="name" x="{number(x)}" y="{number(y + 4)}" textLength="{length}">{escape(text)}</text>'


def text(kind: str, words: str, x: float, y: float) -> str:
    """Words of class `kind` on the line y."""
    return f'<text class="{kind}" x="{number(x)}" y="{number(y)}">{escape(words)}</text>'


def bar(left: float, right: float, y: float) -> str:
    """The bar on top of a step that waits for several events."""
    return rect(Box((left + right) / 2, y, right - left, BAR), BAR / 2, "bar")


def tip(x: float, y: float, kind: str, *, up: bool = False) -> str:
    """The tip of an arrow that ends at (x, y), coming from above or, with `up`, from below."""
    back = y + TIP if up else y - TIP
    left, right = number(x - TIP / 2), number(x + TIP / 2)
    return f'<path class="tip {kind}" d="M{number(x)} {number(y)}L{left} {number(back)}H{right}Z"/>'


def path(points: Sequence[Point]) -> str:
    """A line through `points`, level or upright between them, with round corners."""
    corners = straightened(points)
    drawn = [f"M{number(corners[0][0])} {number(corners[0][1])}"]
    for before, at, after in zip(corners, corners[1:], corners[2:], strict=False):
        radius = min(CORNER, _distance(before, at) / 2, _distance(at, after) / 2)
        (x, y), (u, v) = _towards(at, before, radius), _towards(at, after, radius)
        drawn.append(f"L{number(x)} {number(y)}Q{number(at[0])} {number(at[1])} {number(u)} {number(v)}")
    return "".join(drawn) + f"L{number(corners[-1][0])} {number(corners[-1][1])}"


def straightened(points: Sequence[Point]) -> list[Point]:
    """`points` without those at which the line does not turn."""
    kept: list[Point] = []
    for point in points:
        if len(kept) > 1 and _in_line(kept[-2], kept[-1], point):
            kept.pop()
        kept.append(point)
    return kept


def _in_line(a: Point, b: Point, c: Point) -> bool:
    return any(max(p[axis] for p in (a, b, c)) - min(p[axis] for p in (a, b, c)) < 0.6 for axis in (0, 1))


def _distance(a: Point, b: Point) -> float:
    return abs(a[0] - b[0]) + abs(a[1] - b[1])


def _towards(a: Point, b: Point, by: float) -> Point:
    """The point `by` pixels from `a` on the way to `b`."""
    share = by / (_distance(a, b) or 1.0)
    return a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share
