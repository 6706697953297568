#!/usr/bin/env python3
"""What a checkpoint costs: how long the ranks wait, and at which share of the disk's sequential rate the files are written.

Each round starts a job that saves itself once, and then writes as many bytes into one file of the same folder. Prints medians, and the
least and the most of the rounds.

  bench/checkpoint_costs.py
  bench/checkpoint_costs.py --procs 2 --folder /scratch
"""

import argparse
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

BLOCK = 1 << 20


def read_step(text):
    """When the first call of the last step began, and how long the ranks waited, in seconds; nothing if there is no step."""
    found = re.findall(r"^step \d+ began (\d+) waited (\d+) ns$", text, re.MULTILINE)
    return tuple(1e-9 * int(word) for word in found[-1]) if found else None


def bytes_of(folder):
    return sum(file.stat().st_size for file in folder.iterdir())


def save_once(command, folder):
    """The wait in seconds, the rate in bytes per second from the call until the checkpoint is visible, and its bytes."""
    done = subprocess.run([*command, "1"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    step = read_step(done.stdout)
    if done.returncode != 0 or step is None:
        sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stdout[-1000:]}")
    began, waited = step
    checkpoint = folder / "ckpt.1"
    # The folder gets its name when all files are on the device.
    seconds = checkpoint.stat().st_ctime - began
    length = bytes_of(checkpoint)
    return waited, length / seconds, length


def write_plainly(file, length):
    """The rate at which one file of this length is written until it is on the device, in bytes per second."""
    block = os.urandom(BLOCK)
    began = time.monotonic()
    with file.open("wb", buffering=0) as opened:
        for _ in range(length // BLOCK):
            opened.write(block)
        os.fsync(opened.fileno())
    return length / (time.monotonic() - began)


def spread(values, form):
    return f"{form.format(statistics.median(values))} ({form.format(min(values))} to {form.format(max(values))})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sorrel", type=pathlib.Path, default="build/release/bin/sorrel", metavar="FILE", help="the command of a build (%(default)s)")
    parser.add_argument("-n", dest="ranks", type=int, default=64, metavar="N", help="ranks (%(default)s)")
    parser.add_argument("--mib", type=int, default=16, metavar="MIB", help="memory of each rank, in MiB (%(default)s)")
    parser.add_argument("--procs", type=int, default=1, metavar="P", help="processes of the job (%(default)s)")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path.cwd(), metavar="DIR", help="on the disk that is measured (the current one)")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="(%(default)s)")
    arguments = parser.parse_args()
    waits, rates, shares = [], [], []
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = pathlib.Path(name)
        program = folder / "checkpoint"
        source = pathlib.Path(__file__).parent / "probes/checkpoint.c"
        subprocess.run([arguments.sorrel, "cc", "-O2", source, "-o", program], check=True)
        shape = ["--procs", str(arguments.procs)] if arguments.procs > 1 else ["--workers", "2"]
        for turn in range(arguments.rounds):
            print(f"round {turn + 1} of {arguments.rounds}", file=sys.stderr)
            saved = folder / f"saved-{turn}"
            words = [str(arguments.sorrel), "run", "-n", str(arguments.ranks), *shape, "--checkpoint", str(saved), str(program), str(arguments.mib)]
            waited, rate, length = save_once(words, saved)
            shutil.rmtree(saved)
            plain = write_plainly(folder / "plain", length)
            (folder / "plain").unlink()
            waits.append(1e3 * waited)
            rates.append(1e-9 * rate)
            shares.append(100 * rate / plain)
    print(f"{arguments.ranks} ranks with {arguments.mib} MiB each, {' '.join(shape)}")
    print(f"the ranks wait {spread(waits, '{:.0f} ms')}")
    print(f"the files are written with {spread(rates, '{:.2f} GB/s')}, {spread(shares, '{:.0f} %')} of the disk's rate")


if __name__ == "__main__":
    main()
