"""Programs with task graphs: the path of their library, how to build them for ranks, and how to run them on a wire."""

import dataclasses
import os
import pathlib
import subprocess
from collections.abc import Iterable

from .disturbance import RUNS, Watch, least_disturbed

# A run is repeated if other work took more of the machine than this.
FOREIGN_SHARE_MAX = 0.06
ROOT = pathlib.Path(__file__).resolve().parents[2]


@dataclasses.dataclass(frozen=True)
class Wire:
    name: str
    text: str | None  # the value of --wire; None: no wire

    def words(self) -> list[str]:
        return ["--wire", self.text] if self.text else []


def library_of(command: str) -> tuple[pathlib.Path, pathlib.Path]:
    """The include folder and the archive, of an installed tree or a build tree."""
    prefix = pathlib.Path(command).resolve().parents[1]
    include = next(p for p in (prefix / "include", ROOT / "include") if (p / "sorrel/graph.hpp").is_file())
    archive = next(p for p in (prefix / "lib/libsorrel_graph.a", prefix / "src/libsorrel_graph.a") if p.is_file())
    return include, archive


def build(command: str, program: pathlib.Path, sources: Iterable[pathlib.Path], flags: Iterable[str],
          libraries: Iterable[str] = ()) -> str | None:  # fmt: skip
    """Builds the program; returns the last line of the error, if there is one."""
    include, archive = library_of(command)
    words = [command, "cxx", *flags, "-std=c++20", "-w", f"-I{include}", *map(str, sources), str(archive), *libraries,
             "-o", str(program)]  # fmt: skip
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return None
    return (done.stderr.strip().splitlines() or ["does not compile"])[-1][:200]


def must_build(command: str, program: pathlib.Path, sources: Iterable[pathlib.Path], flags: Iterable[str]) -> str:
    """Builds the program or exits; returns its path."""
    error = build(command, program, sources, flags)
    if error is not None:
        raise SystemExit(f"sorrel: bench: {program.name}: {error}")
    return str(program)


def run(words: list[str]) -> dict[str, str]:
    """The output of `sorrel run ...`, "variant base n 256 seconds 0.5 ...", as a table; without SORREL_* variables of
    the environment."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("SORREL_")}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=kept)
    if done.returncode != 0:
        raise SystemExit(f"sorrel: bench: failed: {' '.join(words)}")
    told = done.stdout.split()
    return dict(zip(told[::2], told[1::2], strict=False))


def _watched_run(words: list[str]) -> tuple[float, float, dict[str, str]]:
    """Seconds, the share of the machine that other work took meanwhile, and the output."""
    watch = Watch()
    told = run(words)
    return *watch.end(), told


def quiet_run(words: list[str]) -> dict[str, str]:
    """As run(), repeated if other work took too much of the machine; the least disturbed run counts."""
    seconds, foreign_share, told = least_disturbed(
        lambda: _watched_run(words), lambda watched: watched[1], lambda watched: watched[1] <= FOREIGN_SHARE_MAX
    )
    RUNS.add(seconds, foreign_share)
    return told
