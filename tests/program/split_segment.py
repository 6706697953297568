"""Divides the writable segment of a library, as tools that change files leave several: split_segment.py LIBRARY.

A segment of 160 KiB takes the place of each program header that the loader does not need.
"""

import struct
import sys

LOAD, NOTE, EH_FRAME, PROPERTY = 1, 4, 0x6474E550, 0x6474E553
WRITABLE, PART = 2, 160 << 10
HEADER = struct.Struct("<IIQQQQQQ")

with open(sys.argv[1], "r+b") as file:
    image = bytearray(file.read())
    begin, count = struct.unpack_from("<Q", image, 32)[0], struct.unpack_from("<H", image, 56)[0]
    headers = [list(HEADER.unpack_from(image, begin + i * HEADER.size)) for i in range(count)]
    last = max(i for i, header in enumerate(headers) if header[0] == LOAD)
    assert headers[last][1] & WRITABLE, "the last segment is not writable"
    free = [i for i in range(last + 1, count) if headers[i][0] in (NOTE, EH_FRAME, PROPERTY)]
    assert len(free) >= 2, "too few headers that are not needed"
    for i in free[:3]:
        kind, flags, offset, address, physical, in_file, in_memory, align = headers[last]
        # Up to the end of a page.
        part = PART + -address % 4096
        headers[last][5] = headers[last][6] = part
        headers[i] = [kind, flags, offset + part, address + part, physical + part, in_file - part, in_memory - part, align]
        last = i
    for i, header in enumerate(headers):
        HEADER.pack_into(image, begin + i * HEADER.size, *header)
    file.seek(0)
    file.write(image)
