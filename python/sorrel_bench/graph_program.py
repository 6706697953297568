"""Programs with task graphs: where their library is, and how they are built for ranks and run on a wire."""

import dataclasses
import os
import pathlib
import subprocess
from collections.abc import Iterable

from .disturbance import RUNS, Watch, least_disturbed

# More of the machine than this taken by others makes a run worthless: it is done again.
FOREIGN_SHARE_MAX = 0.06
ROOT = pathlib.Path(__file__).resolve().parents[2]


@dataclasses.dataclass(frozen=True)
class Wire:
    name: str
    text: str | None  # what --wire takes; None: no wire

    def words(self) -> list[str]:
        return ["--wire", self.text] if self.text else []


def library_of(command: str) -> tuple[pathlib.Path, pathlib.Path]:
    """The folder of headers and the archive, as installed or as built."""
    prefix = pathlib.Path(command).resolve().parents[1]
    include = next(p for p in (prefix / "include", ROOT / "include") if (p / "sorrel/graph.hpp").is_file())
    archive = next(p for p in (prefix / "lib/libsorrel_graph.a", prefix / "src/libsorrel_graph.a") if p.is_file())
    return include, archive


def build(command: str, program: pathlib.Path, sources: Iterable[pathlib.Path], flags: Iterable[str],
          libraries: Iterable[str] = ()) -> str | None:  # fmt: skip
    """Makes the program; the last line of the trouble, if there is any."""
    include, archive = library_of(command)
    words = [command, "cxx", *flags, "-std=c++20", "-w", f"-I{include}", *map(str, sources), str(archive), *libraries,
             "-o", str(program)]  # fmt: skip
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return None
    return (done.stderr.strip().splitlines() or ["does not compile"])[-1][:200]


def must_build(command: str, program: pathlib.Path, sources: Iterable[pathlib.Path], flags: Iterable[str]) -> str:
    """The program's path."""
    trouble = build(command, program, sources, flags)
    if trouble is not None:
        raise SystemExit(f"sorrel: bench: {program.name}: {trouble}")
    return str(program)


def run(words: list[str]) -> dict[str, str]:
    """What `sorrel run ...` printed, "variant base n 256 seconds 0.5 ...", by its words; without settings of the environment."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("SORREL_")}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=kept)
    if done.returncode != 0:
        raise SystemExit(f"sorrel: bench: failed: {' '.join(words)}")
    told = done.stdout.split()
    return dict(zip(told[::2], told[1::2], strict=False))


def _watched_run(words: list[str]) -> tuple[float, float, dict[str, str]]:
    """Seconds, the share of the machine that others took meanwhile, and what was printed."""
    watch = Watch()
    told = run(words)
    return *watch.end(), told


def quiet_run(words: list[str]) -> dict[str, str]:
    """As run(), again if others took too much of the machine meanwhile; the least disturbed counts."""
    seconds, foreign_share, told = least_disturbed(
        lambda: _watched_run(words), lambda watched: watched[1], lambda watched: watched[1] <= FOREIGN_SHARE_MAX
    )
    RUNS.add(seconds, foreign_share)
    return told
