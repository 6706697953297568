#!/usr/bin/env python3
"""Where the memory of a rank in Python is, after its imports: resident pages (PSS) by kind, in KiB for each rank.

The job imports the modules in every rank and waits in a barrier; then one rank of each process copies /proc/self/smaps. Pages that several
ranks or processes share are divided among them.

  bench/python_memory.py env/bin/python
  bench/python_memory.py env/bin/python -n 16 --processes --modules mpi4py.MPI
"""

import argparse
import bisect
import collections
import os
import pathlib
import re
import subprocess
import tempfile

ARENAS, HEAPS, STACKS = "arenas of Python (mmap)", "heaps (malloc)", "stacks"
FILES, OTHER = "pages of files that nothing has changed", "other memory of the process"

# What a rank does. It imports nothing else before the maps are copied.
RANK = """
import os, sys
from mpi4py import MPI
for module in sys.argv[2].split(","):
    __import__(module)
world, own = MPI.COMM_WORLD, f"{sys.argv[1]}/{os.getpid()}"
is_first = world.allgather(os.getpid()).index(os.getpid()) == world.rank
world.Barrier()
if is_first:
    with open("/proc/self/smaps", "rb", buffering=0) as maps, open(own + ".maps", "wb", buffering=0) as copy:
        while block := maps.read(1 << 16):
            copy.write(block)
world.Barrier()
import ctypes, gc
libc, context = ctypes.CDLL(None), ctypes.create_string_buffer(4096)
libc.malloc.restype = ctypes.c_void_p
libc.getcontext(context)
with open(f"{own}.{world.rank}", "w") as notes:
    objects = sorted({id(one) for one in gc.get_objects() if type(one) is dict})
    print(libc.malloc(64), int.from_bytes(context[160:168], "little"), *objects, file=notes)
"""

Map = collections.namedtuple("Map", "begin end is_usable path pss private")


def read_maps(text):
    """The maps in the form of /proc/PID/smaps; sizes in KiB."""
    maps = []
    for line in text.splitlines():
        head = re.match(r"([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ \S+ *(.*)$", line)
        if head:
            begin, end = (int(word, 16) for word in head.group(1, 2))
            path = head.group(4) if head.group(4).startswith(("/", "[")) else ""
            maps.append(Map(begin, end, head.group(3).startswith("rw"), path, 0, 0))
        elif line.startswith("Pss:"):
            maps[-1] = maps[-1]._replace(pss=int(line.split()[1]))
        elif line.startswith(("Private_Dirty:", "Anonymous:")):
            maps[-1] = maps[-1]._replace(private=max(maps[-1].private, int(line.split()[1])))
    return maps


def chain_of(maps, address):
    """The numbers of the anonymous maps around an address, without a gap between them: what was reserved as a whole."""
    at = next((i for i, one in enumerate(maps) if one.begin <= address < one.end), None)
    if at is None or maps[at].path:
        return set()
    first = last = at
    while first > 0 and not maps[first - 1].path and maps[first - 1].end == maps[first].begin:
        first -= 1
    while last + 1 < len(maps) and not maps[last + 1].path and maps[last + 1].begin == maps[last].end:
        last += 1
    return set(range(first, last + 1))


def library_of(path):
    """libopenblas of /x/numpy.libs/libscipy_openblas64_-fdde5778.so: without version, interface and hash."""
    return re.sub(r"(-[0-9a-f]{8})*(\.(cpython|abi3|mpich|openmpi)[^.]*)*\.so[.0-9]*$", "", path.rsplit("/", 1)[-1])


def kinds_of(maps, objects, block, frame):
    """KiB by kind. `objects`: addresses of objects of Python, ascending; `block`: one of a block of malloc, `frame`: one in a rank's stack."""
    heaps, stacks = chain_of(maps, block), chain_of(maps, frame)
    kinds = collections.Counter()
    library = None
    for i, one in enumerate(maps):
        if one.path.startswith("/"):
            library = one.path
            changed = min(one.private, one.pss)
            kinds[f"data of {library_of(library)}"] += changed
            kinds[FILES] += one.pss - changed
            continue
        if one.path or (i > 0 and maps[i - 1].end != one.begin):
            library = None
        if i in heaps:
            kind = HEAPS
        elif i in stacks:
            kind = STACKS
        elif (at := bisect.bisect_left(objects, one.begin)) < len(objects) and objects[at] < one.end:
            kind = ARENAS
        else:
            # A library's zeroed data, or its part of a rank's image, lies behind what is of the file.
            kind = OTHER if library is None else f"data of {library_of(library)}"
        kinds[kind] += one.pss
    return kinds


def table_of(kinds, ranks, rows):
    """Kinds with the most memory, and the rest as one row."""
    shown = kinds.most_common(rows)
    rest = sum(kinds.values()) - sum(kib for _, kib in shown)
    lines = [(kind, kib / ranks) for kind, kib in shown if kib] + ([("the rest", rest / ranks)] if rest else [])
    lines.append(("together", sum(kinds.values()) / ranks))
    return "\n".join(f"{kind:<44}{kib:10.0f}" for kind, kib in lines)


def measure(folder, ranks):
    kinds = collections.Counter()
    for file in folder.glob("*.maps"):
        notes = [[int(word) for word in note.read_text().split()] for note in folder.glob(f"{file.stem}.[0-9]*")]
        objects = sorted({address for note in notes for address in note[2:]})
        maps = read_maps(file.read_text())
        kinds.update(kinds_of(maps, objects, notes[0][0], notes[0][1]))
    return kinds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("python", help="the interpreter of an environment with mpi4py")
    parser.add_argument("--sorrel", default="build/release/bin/sorrel", metavar="FILE", help="the command of a build (%(default)s)")
    parser.add_argument("-n", dest="ranks", type=int, default=64, metavar="N", help="ranks (%(default)s)")
    parser.add_argument("--modules", default="mpi4py.MPI,numpy", metavar="NAMES", help="what each rank imports (%(default)s)")
    parser.add_argument("--processes", action="store_true", help="every rank is a process")
    parser.add_argument("--rows", type=int, default=12, metavar="N", help="rows of the table (%(default)s)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        shape = ["--procs", str(arguments.ranks)] if arguments.processes else []
        command = [arguments.sorrel, "run", "-n", str(arguments.ranks), *shape, arguments.python, "-c", RANK]
        subprocess.run([*command, name, arguments.modules], check=True, env={"OPENBLAS_NUM_THREADS": "1", **os.environ})
        print(table_of(measure(pathlib.Path(name), arguments.ranks), arguments.ranks, arguments.rows))


if __name__ == "__main__":
    main()
