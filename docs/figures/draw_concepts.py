#!/usr/bin/env python3
"""draw_concepts.py [FOLDER]

Draws the figures of docs/concepts: boxes and arrows that explain, no measurements. FOLDER is docs/figures by default.
Needs matplotlib of PyPI: .venv/bin/python docs/figures/draw_concepts.py
"""
import pathlib
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

matplotlib.rcParams |= {"svg.hashsalt": "sorrel", "svg.fonttype": "none", "font.size": 10, "font.family": "sans-serif"}
INK, SOFT = "#333333", "#777777"
PRIVATE, SHARED, RANK, OTHER, IDLE, MESSAGE = "#cfe3f7", "#e8e8e8", "#cfe3f7", "#fbe0c4", "#f4f4f4", "#c0392b"


class Drawing:
    """A canvas whose unit is a tenth of an inch, with the origin below on the left."""

    def __init__(self, width: float, height: float):
        self.figure, self.axes = plt.subplots(figsize=(width / 10, height / 10))
        self.axes.set(xlim=(0, width), ylim=(0, height))
        self.axes.axis("off")
        self.figure.subplots_adjust(0, 0, 1, 1)

    def box(self, x, y, width, height, text="", color=RANK, edge=INK):
        self.axes.add_patch(FancyBboxPatch((x, y), width, height, boxstyle="round,pad=0,rounding_size=0.4",
                                           facecolor=color, edgecolor=edge, linewidth=0.9))
        self.text(x + width / 2, y + height / 2, text)

    def text(self, x, y, text, color=INK, align="center", size=10):
        self.axes.text(x, y, text, color=color, ha=align, va="center", fontsize=size, linespacing=1.35)

    def arrow(self, begin, end, text="", color=INK, bend=0.0, shift=(0, 1.2)):
        self.axes.add_patch(FancyArrowPatch(begin, end, arrowstyle="-|>", mutation_scale=11, color=color, linewidth=1.1,
                                            connectionstyle=f"arc3,rad={bend}", shrinkA=0, shrinkB=0))
        if text:
            self.text((begin[0] + end[0]) / 2 + shift[0], (begin[1] + end[1]) / 2 + shift[1], text, color, size=9)

    def line(self, begin, end, color=SOFT, style="-"):
        self.axes.plot([begin[0], end[0]], [begin[1], end[1]], color=color, linewidth=0.9, linestyle=style)

    def save(self, path: pathlib.Path):
        self.figure.savefig(path, metadata={"Date": None}, facecolor="white")
        plt.close(self.figure)


def private() -> Drawing:
    d = Drawing(78, 34)
    d.box(1, 1, 76, 32, color="white", edge=SOFT)
    d.text(39, 31, "one process", SOFT)
    for number, x in enumerate((2.5, 19.5, 36.5, 59)):
        name = ("rank 0", "rank 1", "rank 2", "rank 999")[number]
        d.text(x + 8, 28.5, name)
        for row, content in enumerate(("stack", "heap", "globals, thread_local", "private libraries", "environment, streams")):
            d.box(x, 25 - 3 * row, 16, 2.6, content, PRIVATE)
    d.text(55.8, 19, "...", SOFT, size=14)
    for x, width, content in ((3, 23, "code of the program"), (27, 23, "C library,\nlibraries without state"), (51, 23, "descriptors,\nprocess number")):
        d.box(x, 4.2, width, 5.3, content, SHARED)
    d.text(39, 2.6, "blue: a copy for each rank;  grey: one for all ranks of the process", SOFT, size=9)
    return d


def scheduling() -> Drawing:
    d = Drawing(78, 30)
    for core, y in ((0, 17), (1, 2)):
        d.box(1, y, 76, 12, color="white", edge=SOFT)
        d.text(6.5, y + 10.2, f"core {core}: worker {core}", SOFT, size=9)
        first = 8 * core
        d.box(3, y + 3.7, 13, 4.6, f"rank {first} runs", "#8fc1ee")
        for place in range(3):
            d.box(21 + 7.5 * place, y + 3.7, 6.5, 4.6, f"rank\n{first + 1 + place}", RANK)
        d.text(31.5, y + 10.2, "ready, first in, first out", SOFT, size=9)
        for place in range(4):
            d.box(52 + 6 * place, y + 3.7, 5.4, 4.6, f"rank\n{first + 4 + place}", OTHER)
        d.text(63.5, y + 10.2, "waiting, each for a completion", SOFT, size=9)
        d.arrow((21, y + 6), (16, y + 6))
        d.arrow((52, y + 6), (43.3, y + 6), "message", MESSAGE)
        d.arrow((9, y + 3.7), (66, y + 3.7), "", bend=0.04)
        d.text(38, y + 1.2, "it calls MPI_Recv, and nothing has arrived", SOFT, size=9)
    d.arrow((3.5, 17), (3.5, 14), "mailboxes", shift=(5, 0))
    d.arrow((14, 14), (14, 17))
    return d


def progress() -> Drawing:
    d = Drawing(78, 25)
    rows = {"rank 0, worker 0": 18, "rank 8, worker 1": 10, "rank 9, worker 1": 2.5}
    for name, y in rows.items():
        d.text(1, y + 2, name, align="left")
        d.line((17, y), (77, y))
    d.box(17, 18, 12, 4, "computes", RANK)
    d.box(29, 18, 9, 4, "MPI_Send", "#8fc1ee")
    d.box(38, 18, 38, 4, "computes", RANK)
    d.box(17, 10, 8, 4, "MPI_Recv", "#8fc1ee")
    d.text(39, 12, "waits", SOFT)
    d.box(56, 10, 20, 4, "goes on", RANK)
    d.box(25, 2.5, 25, 4, "computes: worker 1 polls nothing", RANK)
    d.box(50, 2.5, 6, 4, "waits", OTHER)
    d.arrow((34, 18), (50, 6.8), "in the mailbox", MESSAGE, bend=-0.15, shift=(5.5, 2))
    d.arrow((53, 6.6), (58, 10), "", MESSAGE)
    d.text(65, 7.8, "at its next wait the worker\npolls and finds the message", SOFT, size=9)
    return d


def sharing() -> Drawing:
    d = Drawing(78, 24)
    d.text(1, 20, "alone", align="left")
    d.text(1, 12, "a second job\nstarts", align="left")
    d.text(1, 4, "it waits\nfor input", align="left")
    for row, layout in ((18, "AAAA"), (10, "AABB"), (2, "AAAA")):
        for core, job in enumerate(layout):
            d.box(17 + 15 * core, row, 13.5, 4.4, f"core {core}: job {job}", RANK if job == "A" else OTHER)
    d.text(46.5, 15.8, "job A: 4 workers on 4 threads", SOFT, size=9)
    d.text(46.5, 7.8, "job A: 4 workers on 2 threads, in turn; job B: the other 2", SOFT, size=9)
    d.text(46.5, 0.9, "job B lends its cores", SOFT, size=9)
    return d


def simulated_time() -> Drawing:
    d = Drawing(78, 27)
    d.text(1, 22.5, "real time\n(no --seed)", align="left")
    d.text(1, 8, "virtual time\n(--seed)", align="left")
    for y, widths in ((20, (14, 22, 14)), (6, (14, 2, 14))):
        x = 17
        for width, name, color in zip(widths, ("computes", "all wait" if y == 20 else "", "computes"), (RANK, IDLE, RANK)):
            d.box(x, y, width, 5, name, color)
            x += width
        d.line((17, y - 1), (77, y - 1))
    d.text(42, 17, "latency 20 ms: 20 ms pass", SOFT, size=9)
    d.text(31.5, 3, "the clock jumps by 20 ms;\nno time passes for you", SOFT, size=9)
    d.text(62, 8.5, "order of ranks, delays and\nMPI_Wtime follow from the seed", SOFT, size=9)
    return d


def balance() -> Drawing:
    d = Drawing(78, 29)
    names = ("off", "loans: steal", "loans and moves:\nmeasured")
    for row, name in enumerate(names):
        y = 21 - 9.5 * row
        d.text(1, y + 3.2, name, align="left")
        for worker in (0, 1):
            d.text(18.5, y + 4.6 - 3.4 * worker, f"worker {worker}", SOFT, size=9)
    for place in range(4):
        d.box(23 + 12.5 * place, 24, 12, 3, f"rank {place}", RANK)
    d.box(23, 20.6, 49.5, 3, "idle: ranks 4 to 7 have nothing to do", IDLE)
    for place in range(2):
        d.box(23 + 12.5 * place, 14.5, 12, 3, f"rank {place}", RANK)
        d.box(25 + 12.5 * place, 11.1, 12, 3, f"rank {place + 2}, lent", OTHER)
    d.text(62, 14.3, "each returns at its next call", SOFT, size=9)
    for place in range(2):
        d.box(23 + 12.5 * place, 5, 12, 3, f"rank {place}", RANK)
        d.box(23 + 12.5 * place, 1.6, 12, 3, f"rank {place + 2}", RANK)
    d.text(62, 4.8, "ranks 2 and 3 belong to worker 1\nsince the last MPI_Allreduce", SOFT, size=9)
    return d


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent
    for draw in (private, scheduling, progress, sharing, simulated_time, balance):
        draw().save(folder / f"{draw.__name__.replace('_', '-')}.svg")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--help"]:
        sys.exit(__doc__)
    main()
