"""Horizontal bar charts with spreads, as SVG that is readable on light and dark pages.

A chart has panels, a panel has bars. All bars of a chart share one scale; a bar marked as cut off
extends to the edge, and its true value is only in its label.
"""

import dataclasses
import math
from xml.sax.saxutils import escape

WIDTH = 820
LABELS_WIDTH = 222
VALUES_WIDTH = 190
MARGIN = 20
ROW_HEIGHT = 24
BAR_HEIGHT = 13
PANEL_TITLE_HEIGHT = 40
UNTITLED_HEIGHT = 14
AXIS_HEIGHT = 46
TITLE_HEIGHT = 60

# (class, fill on a light page, on a dark page)
COLOURS = [
    ("page", "fill", "#ffffff", "#0d1117"),
    ("band", "fill", "#eceff3", "#1b2129"),
    ("text", "fill", "#1f2328", "#e6edf3"),
    ("muted", "fill", "#626a73", "#9198a1"),
    ("ours", "fill", "#1f6feb", "#4493f8"),
    ("part", "fill", "#79b0fa", "#2b5fa8"),
    ("empty", "fill", "#8b95a1", "#7d8590"),
    ("noise", "fill", "#c3cad2", "#444c56"),
    ("other", "fill", "#d98841", "#c9803f"),
    ("goal-text", "fill", "#1a7f37", "#3fb950"),
    ("grid", "stroke", "#e3e7ec", "#262c36"),
    ("zero", "stroke", "#8b95a1", "#7d8590"),
    ("goal", "stroke", "#1a7f37", "#3fb950"),
    ("spread", "stroke", "#1f2328", "#e6edf3"),
    ("cut", "stroke", "#ffffff", "#0d1117"),
]


def colours(column):
    return " ".join(f".{colour[0]} {{ {colour[1]}: {colour[column]}; }}" for colour in COLOURS)


STYLE = f"""
text {{ font-family: system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }}
text {{ font-size: 12.5px; }} .muted, .goal-text {{ font-size: 11.5px; }}
.title {{ font-size: 16px; }} .title, .panel, .value {{ font-weight: 600; }}
.goal {{ stroke-width: 1.5; stroke-dasharray: 4 3; }} .cut {{ stroke-width: 3; }}
.spread {{ stroke-width: 1.2; opacity: 0.75; }}
{colours(2)}
@media (prefers-color-scheme: dark) {{ {colours(3)} }}
"""


@dataclasses.dataclass
class Bar:
    label: str
    value: float
    low: float
    high: float
    text: str            # the value as text
    kind: str            # ours, part, empty, noise or other: selects the colour
    spread: str = ""     # the spread as text
    is_cut: bool = False
    inner: float = None  # a second value, drawn within the bar


@dataclasses.dataclass
class Panel:
    title: str
    bars: list
    band: tuple = None   # (low, high) of the noise
    goal: float = None
    goal_text: str = ""


@dataclasses.dataclass
class Scale:
    low: float
    high: float
    step: float

    def x(self, value):
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return LABELS_WIDTH + share * (WIDTH - LABELS_WIDTH - VALUES_WIDTH)

    def ticks(self):
        return [index * self.step for index in range(round(self.low / self.step),
                                                     round(self.high / self.step) + 1)]


def scale_of(panels):
    """A scale that includes zero, in four to eight round steps."""
    values = [0.0]
    for panel in panels:
        values += [panel.goal * 1.15] if panel.goal else []
        values += list(panel.band or [])
        for bar in panel.bars:
            values += [] if bar.is_cut else [bar.value, bar.low, bar.high]
    span = max(values) - min(values) or 1
    magnitude = 10 ** math.floor(math.log10(span / 4))
    step = next(magnitude * factor for factor in (1, 2, 2.5, 5, 10) if
                span / (magnitude * factor) <= 7)
    return Scale(math.floor(min(values) / step) * step, math.ceil(max(values) / step) * step, step)


def text(x, y, content, kind="text", anchor="start"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">'
            f"{escape(content)}</text>")


def line(x1, y1, x2, y2, kind="grid"):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def rectangle(x, y, width, height, kind, radius=0):
    return (f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{height:.1f}" '
            f'rx="{radius}" class="{kind}"/>')


def draw_spread(bar, scale, middle):
    low, high = scale.x(bar.low), scale.x(bar.high)
    return [line(low, middle, high, middle, "spread")] + [
        line(x, middle - 3.5, x, middle + 3.5, "spread") for x in (low, high)]


def draw_bar(bar, scale, top):
    middle = top + ROW_HEIGHT / 2
    zero, end = scale.x(0), scale.x(scale.high if bar.is_cut else bar.value)
    drawn = [text(LABELS_WIDTH - 12, middle + 4, bar.label, anchor="end"),
             rectangle(min(zero, end), middle - BAR_HEIGHT / 2, abs(end - zero), BAR_HEIGHT,
                       bar.kind, 2)]
    if bar.inner is not None:
        drawn.append(rectangle(zero, middle - 2.5, scale.x(bar.inner) - zero, 5, "empty"))
    if bar.is_cut:
        drawn += [line(end - offset, middle + 9, end - offset + 7, middle - 9, "cut")
                  for offset in (24, 30)]
    elif bar.low < bar.high:
        drawn += draw_spread(bar, scale, middle)
    x = WIDTH - VALUES_WIDTH + 14
    return drawn + [text(x + 58, middle + 4, bar.text, "text value", "end"),
                    text(x + 68, middle + 4, bar.spread, "muted")]


def draw_goal(panel, scale, top, bottom):
    x = scale.x(panel.goal)
    return [line(x, top, x, bottom, "goal"), text(x + 5, top + 9, panel.goal_text, "goal-text")]


def draw_panel(panel, scale, top):
    bars_top = top + (PANEL_TITLE_HEIGHT if panel.title else UNTITLED_HEIGHT)
    bottom = bars_top + len(panel.bars) * ROW_HEIGHT
    drawn = [text(MARGIN, top + 20, panel.title, "text panel")]
    if panel.band:
        low, high = map(scale.x, panel.band)
        drawn.append(rectangle(low, bars_top, high - low, bottom - bars_top, "band"))
    drawn += [line(scale.x(tick), bars_top, scale.x(tick), bottom, "grid" if tick else "zero")
              for tick in scale.ticks()]
    for number, bar in enumerate(panel.bars):
        drawn += draw_bar(bar, scale, bars_top + number * ROW_HEIGHT)
    if panel.goal is not None:
        drawn += draw_goal(panel, scale, bars_top - 13, bottom)
    return drawn, bottom


def chart(title, subtitle, panels, axis, tick_text):
    """Returns the SVG. axis: label of the scale; tick_text: formats a value of the scale."""
    scale = scale_of(panels)
    drawn = [text(MARGIN, 28, title, "text title"), text(MARGIN, 47, subtitle, "muted")]
    bottom = TITLE_HEIGHT - 8
    for panel in panels:
        more, bottom = draw_panel(panel, scale, bottom)
        drawn += more
    drawn += [text(scale.x(tick), bottom + 17, tick_text(tick), "muted", "middle")
              for tick in scale.ticks()]
    drawn.append(text((scale.x(scale.low) + scale.x(scale.high)) / 2, bottom + 36, axis, "muted",
                      "middle"))
    height = bottom + AXIS_HEIGHT
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" '
            f'width="{WIDTH}" height="{height:.0f}" role="img">\n'
            f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n"
            + rectangle(0, 0, WIDTH, height, "page", 8) + "\n" + "\n".join(drawn) + "\n</svg>\n")
