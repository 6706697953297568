#!/usr/bin/env python3
"""older_names.py LIBRARY VERSION COPY [NAME...]

Copies a library of glibc, in which the linker then finds the names of an older one: of each name the newest version up to VERSION, and neither newer names
nor NAMEs. glibc keeps the old versions of its names; the copy says which of them is the default.
"""
import pathlib
import re
import struct
import sys

SHT_STRTAB, SHT_DYNSYM, SHT_VERDEF, SHT_VERSYM, HIDDEN = 3, 11, 0x6FFFFFFD, 0x6FFFFFFF, 0x8000


def number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def main(library: str, oldest: str, copy: str, *replaced: str) -> None:
    data = bytearray(pathlib.Path(library).read_bytes())
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, struct.unpack_from("<Q", data, 40)[0] + 64 * i) for i in range(struct.unpack_from("<H", data, 60)[0])]
    sections = {header[1]: header for header in headers}
    strings = headers[sections[SHT_DYNSYM][6]][4]

    def text(offset: int) -> str:
        return data[strings + offset : data.index(0, strings + offset)].decode()

    versions = {}
    place, following = sections[SHT_VERDEF][4], 1
    while following:
        _, _, index, _, _, names, following = struct.unpack_from("<HHHHIII", data, place)
        if match := re.fullmatch(r"GLIBC_([0-9.]+)", text(struct.unpack_from("<I", data, place + names)[0])):
            versions[index] = number(match[1])
        place += following

    definitions: dict[str, list[tuple[tuple[int, ...], int, int]]] = {}
    _, _, _, _, symbols, size, *_ = sections[SHT_DYNSYM]
    for i in range(size // 24):
        name, _, _, section = struct.unpack_from("<IBBH", data, symbols + 24 * i)
        place = sections[SHT_VERSYM][4] + 2 * i
        index = struct.unpack_from("<H", data, place)[0] & ~HIDDEN
        if section and index in versions:
            definitions.setdefault(text(name), []).append((versions[index], index, place))
    for name, known in definitions.items():
        default = max((version for version, _, _ in known if version <= number(oldest) and name not in replaced), default=None)
        for version, index, place in known:
            struct.pack_into("<H", data, place, index if version == default else index | HIDDEN)
    pathlib.Path(copy).write_bytes(data)


main(*sys.argv[1:])
