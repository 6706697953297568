"""Fits of scikit-learn's HistGradientBoosting, as a user would write them: prints "ready", waits for a line, fits, and
prints seconds, a checksum, and the file in which GOMP_parallel was found. Arguments: number of fits, rows.
"""

import ctypes
import sys
import time

import numpy
from sklearn.ensemble import HistGradientBoostingClassifier


def openmp_library() -> str:
    # Without Sorrel only the modules that bring the library know it.
    try:
        address = ctypes.cast(ctypes.CDLL(None).GOMP_parallel, ctypes.c_void_p).value
    except AttributeError:
        return "-"
    with open("/proc/self/maps", encoding="utf-8") as maps:
        for line in maps:
            begin, end = (int(number, 16) for number in line.split()[0].split("-"))
            if begin <= address < end:
                return line.split()[-1]
    return "nowhere"


def main() -> None:
    count, rows = int(sys.argv[1]), int(sys.argv[2])
    random = numpy.random.default_rng(1)
    points = random.normal(size=(rows, 20))
    labels = (points[:, 0] * points[:, 1] + points[:, 2] > 0).astype(int)
    model = HistGradientBoostingClassifier(max_iter=50, early_stopping=False, random_state=0)
    model.fit(points[:1000], labels[:1000])
    print("ready", flush=True)
    sys.stdin.readline()
    began = time.perf_counter()
    for _ in range(count):
        model.fit(points, labels)
    seconds = time.perf_counter() - began
    print(f"{seconds:.4f} {model.decision_function(points[:1000]).sum():.9g} {openmp_library()}")


main()
