#!/usr/bin/env python3
"""check_lines.py KIND SORREL PROGRAM RANKS [OPTIONS...]: what a job prints arrives in whole lines, each once.

KIND: how standard output (and error, which goes the same way) is read: `pipe`; `slow`, a pipe that is read in small pieces with
rests; `nonblocking`, the same with a writing end that does not wait; `file`; `exact`, bytes without lines, into a file;
`stuck`, a pipe that is not read at all: an interrupt must end the job nevertheless.
"""
import fcntl
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

LINE = re.compile(rb"(?:\[(\d+)\] )?(\d+) (\d+) (\d+) ([a-z]*)\.")


def fail(text):
    print(text)
    sys.exit(1)


def check(data, ranks, count, has_labels):
    seen = {}
    if not data.endswith(b"\n"):
        fail("the last line is not whole")
    for line in data.split(b"\n")[:-1]:
        match = LINE.fullmatch(line)
        if not match:
            fail(f"no line of the program: {line[:100]} ... {line[-100:]}, {len(line)} bytes")
        label, rank, number, length = (int(word) if word else None for word in match.groups()[:4])
        if match[5] != bytes([97 + rank % 26]) * length:
            fail(f"line {number} of rank {rank} is not whole")
        if label != (rank if has_labels else None):
            fail(f"line {number} of rank {rank} has the label {label}")
        seen[rank, number] = seen.get((rank, number), 0) + 1
    expected = {(rank, number): 1 + (number % 10 == 0) for rank in range(ranks) for number in range(count)}
    if seen != expected:
        fail(f"{sum(seen.values())} lines, expected {sum(expected.values())}")


def read_all(descriptor, is_slow):
    data = bytearray()
    while True:
        if is_slow and len(data) < 300_000:
            time.sleep(0.001)
        piece = os.read(descriptor, 1500 if is_slow else 1 << 20)
        if not piece:
            return bytes(data)
        data += piece


def main():
    kind, sorrel, program, ranks, *options = sys.argv[1:]
    count = 400
    words = [sorrel, "run", "-n", ranks, *options, program, str(count)]
    if kind in ("file", "exact"):
        with tempfile.TemporaryFile() as file:
            words += ["exact"] if kind == "exact" else []
            status = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=file, stderr=file, timeout=150).returncode
            file.seek(0)
            data = file.read()
    else:
        read_end, write_end = os.pipe()
        if kind == "nonblocking":
            fcntl.fcntl(write_end, fcntl.F_SETFL, os.O_NONBLOCK)
        job = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=write_end, stderr=write_end)
        os.close(write_end)
        if kind == "stuck":
            time.sleep(1)
            job.send_signal(signal.SIGINT)
            status = job.wait(timeout=60)
            sys.exit(0 if status in (-signal.SIGINT, 128 + signal.SIGINT) else f"status {status}")
        data = read_all(read_end, kind != "pipe")
        status = job.wait(timeout=150)
    if status != 0:
        fail(f"status {status}")
    if kind == "exact":
        if data != bytes(i % 9 for i in range(count)):
            fail(f"other bytes: {data[:100]}")
    else:
        check(data, int(ranks), count, "--label" in options)


main()
