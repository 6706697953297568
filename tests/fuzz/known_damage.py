#!/usr/bin/env python3
"""Damage to executables that fuzzers have found harmful, repeated in a copy of a program: known_damage.py BUILD

Each case damages one field and states how `sorrel run` must end.
"""

from __future__ import annotations

import pathlib
import re
import struct
import sys
import tempfile

sys.dont_write_bytecode = True
import trial  # noqa: E402

PT_LOAD, PT_DYNAMIC = 1, 2
DT_STRTAB, DT_SYMTAB, DT_RELA, DT_INIT_ARRAYSZ = 5, 6, 7, 27
STB_LOCAL, R_RELATIVE = 0, 8
OUTSIDE = r"sorrel: .*program is damaged: its dynamic section names tables that lie outside of it"
RELOCATION = r"sorrel: .*program is damaged: a relocation names a symbol or a place that is not in it"
RELOCATED = r"sorrel: .*program is damaged: a relocation has changed its dynamic section"
RIGHT = ""


class Program:
    """A copy of a program; files and memory have equal offsets up to the first writable segment."""

    def __init__(self, path: pathlib.Path) -> None:
        self.data = bytearray(path.read_bytes())
        (table,) = struct.unpack_from("<Q", self.data, 32)
        (count,) = struct.unpack_from("<H", self.data, 56)
        self.segments = range(table, table + 56 * count, 56)

    def segment(self, kind: int) -> int:
        return next(at for at in self.segments if struct.unpack_from("<I", self.data, at)[0] == kind)

    def dynamic(self, wanted: int) -> int:
        """The offset of the value of an entry."""
        (begin,) = struct.unpack_from("<Q", self.data, self.segment(PT_DYNAMIC) + 8)
        at = begin
        while struct.unpack_from("<Q", self.data, at)[0] != wanted:
            at += 16
        return at + 8

    def set(self, at: int, value: int) -> None:
        struct.pack_into("<Q", self.data, at, value)

    def get(self, at: int) -> int:
        return struct.unpack_from("<Q", self.data, at)[0]

    def first_relocation_of_symbol(self) -> int:
        at = self.get(self.dynamic(DT_RELA))
        while self.get(at + 8) & 0xFFFFFFFF == R_RELATIVE:
            at += 24
        return at


def many_constructors(program: Program) -> None:
    # The C library uses 32 bits of the number, and runs the two existing constructors.
    program.set(program.dynamic(DT_INIT_ARRAYSZ), (1 << 60) + 16)


def nameless_symbol(program: Program) -> None:
    # The loader does not look up local symbols.
    index = program.get(program.first_relocation_of_symbol() + 8) >> 32
    symbol = program.get(program.dynamic(DT_SYMTAB)) + 24 * index
    struct.pack_into("<IB", program.data, symbol, 0x69726464, STB_LOCAL)


def relocated_dynamic_section(program: Program) -> None:
    # A relocation of a weak symbol, which is undefined, clears the tag of the table of names.
    relocation = program.first_relocation_of_symbol()
    header = program.segment(PT_DYNAMIC)
    in_file, in_memory = program.get(header + 8), program.get(header + 16)
    program.set(relocation, program.dynamic(DT_STRTAB) - 8 - in_file + in_memory)


def odd_alignment(program: Program) -> None:
    # The system ignores it.
    writable = [at for at in program.segments if struct.unpack_from("<II", program.data, at) == (PT_LOAD, 6)]
    program.set(writable[0] + 48, 4097)


CASES = [
    (many_constructors, OUTSIDE),
    (nameless_symbol, RELOCATION),
    (relocated_dynamic_section, RELOCATED),
    (odd_alignment, RIGHT),
]


def main() -> int:
    build = pathlib.Path(sys.argv[1]).resolve()
    failed = 0
    for damage, pattern in CASES:
        with tempfile.TemporaryDirectory(prefix="sorrel-fuzz-") as folder:
            path = pathlib.Path(folder, "program")
            program = Program(build / "tests/fuzz/subjects/plain")
            damage(program)
            path.write_bytes(program.data)
            path.chmod(0o755)
            words = [str(build / "bin/sorrel"), "run", "-n", "2", str(path)]
            outcome = trial.run(words, pathlib.Path(folder), trial.clean_environment(pathlib.Path(folder)))
            is_refused = outcome.status > 0 and any(re.match(pattern, line) for line in outcome.lines())
            if outcome.is_late or not (is_refused if pattern else outcome.status == 0):
                print(f"FAILED: {damage.__name__}\n{outcome.text()}expected: {pattern or 'status 0'}")
                failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
