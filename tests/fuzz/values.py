"""Invalid and extreme values, for options and environment variables."""

from __future__ import annotations

import random

NUMBERS = [
    "0", "-0", "-1", "+1", "1.5", "1e3", "0x10", "010", "1000001", "2147483647", "2147483648", "4294967295",
    "4294967296", "9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616",
    "1" * 40, "nan", "-nan", "inf", "-inf", "1e308", "1e-320", "1e999", "1,2", "1;2", "4x", " 4", "4 ", "4\t", "1\n2",
]  # fmt: skip
TEXTS = [
    "", " ", "\t", "\n", "-", "--", "---", "=", ",", ",,", ":", "é", "٣", "４", "\u202e4", "😀", "\x1b[31m", "\x7f",
    "\udcff", "\udcc3(", "%s%n%d", "{}", "{0}", "$(id)", "`id`", "'", '"', "\\", "*", "?", "~", "true", "false", "yes",
    "none", "auto", "core", "fair", "yielding", "fixed", "verbose", "active", "passive", "/dev/null", "/dev/full", "/",
    "/proc/self/exe", "../../..", "nothing", "a" * 300, "=" * 5000, "7" * 100_000, "é" * 20_000,
]  # fmt: skip
WIRES = [
    "latency=1us", "latency=1us,bandwidth=1GB/s", "nodes=2", "nodes=0", "nodes=1025", "latency=nanus", "bandwidth=infB/s",
    "jitter=1us,jitter=1us", "latency", "latency=", "=1us", ",", "latency=1us,,", "bandwidth=1e308GB/s", "latency=-1us",
    "latency=1e400s", "latency=1µs",
]  # fmt: skip


def bad(random_: random.Random) -> str:
    """A special value, sometimes damaged further or joined of two."""
    pick = random_.random()
    value = random_.choice(NUMBERS if pick < 0.4 else WIRES if pick < 0.5 else TEXTS)
    if random_.random() < 0.1:
        value += random_.choice([",", ":", "", " ", "-"]) + random_.choice(NUMBERS + TEXTS)
    if random_.random() < 0.05 and value:
        at = random_.randrange(len(value))
        value = value[:at] + chr(random_.choice([1, 9, 0x20, 0x7F, 0xE9, 0x4E00, 0x1F600])) + value[at + 1 :]
    # The system allows neither zeros nor longer ones.
    return value.replace("\0", "")[:100_000]
