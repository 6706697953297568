#!/usr/bin/env python3
"""draw_timeline.py FEW.trace MANY.trace OUT.svg

Draws the picture of the README from two traces of one program, by `sorrel run --trace`: what each core runs in the same
length of time. The program is ring.c of docs/tutorials/slow-network.md, the machine has two cores:

    wire="--wire latency=1ms,nodes=2 --workers 2 --share fixed"
    sorrel run -n 2  $wire --trace few.trace  ./ring
    sorrel run -n 16 $wire --trace many.trace ./ring
    docs/figures/draw_timeline.py few.trace many.trace docs/figures/timeline.svg

Needs perfetto of PyPI, which describes the format.
"""
import colorsys
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "trace"))
try:
    from check_trace import Trace
except SystemExit:
    sys.exit("draw_timeline.py: needs perfetto of PyPI: .venv/bin/python docs/figures/draw_timeline.py")

WINDOW_NS = 8_000_000
LEFT, WIDTH, BAR, GAP = 84, 700, 26, 8
TEXT = "font-family='system-ui, sans-serif' font-size='13'"


def runs_of_workers(path: str) -> dict[str, list[tuple[int, int, str]]]:
    """By worker: (begin, end, rank) of each time in which it ran a rank, in order."""
    trace = Trace(path)
    found = {}
    for track, events in trace.slices.items():
        if not re.fullmatch(r"worker \d+", trace.names[track]):
            continue
        runs, begins = [], []
        for time, _, is_begin, name in events:
            if is_begin:
                begins.append((time, name))
            else:
                begin, name = begins.pop()
                if re.fullmatch(r"rank \d+", name):
                    runs.append((begin, time, name))
        found[trace.names[track]] = sorted(runs)
    return dict(sorted(found.items()))


def typical_window(workers: dict) -> int:
    """The begin of a window in the middle of the run: of many windows the one whose share of running time is the median."""
    first = max(runs[0][0] for runs in workers.values())
    last = min(runs[-1][1] for runs in workers.values())
    quarter = (last - first) // 4
    begins = range(first + quarter, last - quarter - WINDOW_NS, WINDOW_NS // 4)
    return sorted(begins, key=lambda begin: busy_share(workers, begin))[len(begins) // 2]


def clipped(runs: list, begin: int) -> list[tuple[int, int, str]]:
    end = begin + WINDOW_NS
    return [(max(a, begin), min(b, end), name) for a, b, name in runs if a < end and b > begin]


def busy_share(workers: dict, begin: int) -> float:
    return sum(b - a for runs in workers.values() for a, b, _ in clipped(runs, begin)) / WINDOW_NS / len(workers)


def colour(name: str) -> str:
    number = int(name.split()[1])
    red, green, blue = colorsys.hls_to_rgb(0.52 + 0.618 * number % 0.45, 0.42 + 0.14 * (number % 3), 0.5)
    return f"#{int(255 * red):02x}{int(255 * green):02x}{int(255 * blue):02x}"


def panel(title: str, workers: dict, top: int) -> list[str]:
    begin = typical_window(workers)
    share = busy_share(workers, begin)
    lines = [f"<text x='{LEFT}' y='{top}' {TEXT} font-weight='600' fill='#1f2937'>{title}: the cores compute "
             f"{100 * share:.0f} % of the time</text>"]
    for row, (worker, runs) in enumerate(workers.items()):
        y = top + 12 + row * (BAR + GAP)
        lines.append(f"<text x='{LEFT - 10}' y='{y + 18}' {TEXT} text-anchor='end' fill='#4b5563'>"
                     f"{worker.replace('worker', 'core')}</text>")
        lines.append(f"<rect x='{LEFT}' y='{y}' width='{WIDTH}' height='{BAR}' fill='#eef0f3'/>")
        for a, b, name in clipped(runs, begin):
            x, width = WIDTH * (a - begin) / WINDOW_NS, WIDTH * (b - a) / WINDOW_NS
            lines.append(f"<rect x='{LEFT + x:.1f}' y='{y}' width='{max(width, 0.4):.1f}' height='{BAR}' "
                         f"fill='{colour(name)}'><title>{name}, {(b - a) / 1000:.0f} us</title></rect>")
    return lines


def draw(few: dict, many: dict, ranks: tuple[int, int]) -> str:
    step = 2 * (BAR + GAP) + 52
    height = 2 * step + 26
    lines = [f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {LEFT + WIDTH + 16} {height}' role='img'>",
             f"<rect width='100%' height='100%' rx='6' fill='white'/>"]
    lines += panel(f"{ranks[0]} ranks", few, 28)
    lines += panel(f"{ranks[1]} ranks", many, 28 + step)
    bottom = 28 + 2 * step - 22
    lines.append(f"<text x='{LEFT}' y='{bottom}' {TEXT} fill='#4b5563'>{WINDOW_NS / 1e6:g} ms of one program on two nodes, "
                 "1 ms apart. Each colour is a rank; on grey, the core waits.</text>")
    return "\n".join([*lines, "</svg>", ""])


def count_ranks(workers: dict) -> int:
    return len({name for runs in workers.values() for _, _, name in runs})


def main() -> None:
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    few, many = runs_of_workers(sys.argv[1]), runs_of_workers(sys.argv[2])
    pathlib.Path(sys.argv[3]).write_text(draw(few, many, (count_ranks(few), count_ranks(many))), encoding="utf-8")


if __name__ == "__main__":
    main()
