"""What the studies share: the command, processors, programs and wires."""

import dataclasses
import pathlib
from collections.abc import Callable, Sequence

from ..graph_program import ROOT, library_of
from ..implementations import Implementation, Job
from ..runner import probe_source
from ..virtual_runs import Build
from ..virtual_setting import Setting as VirtualSetting
from .samples import Case, Store, Values, command_case

RUN_SECONDS_MAX = 120


@dataclasses.dataclass
class Setting(VirtualSetting):
    """Also holds the processors of the runs and the store of samples."""

    cpus: Sequence[int] = ()
    store: Store | None = None
    peers: Sequence[Implementation] = ()  # MPIs whose ranks are processes
    study_command: str | None = None  # the `sorrel` of a build for measurements

    def limited_to(self, processors: int | None) -> "Setting":
        """This setting on so many of the cores, if there are as many; None: on all."""
        workers = min(processors or self.workers, self.workers)
        return dataclasses.replace(self, workers=workers, cpus=self.cpus[:workers])

    def command_case(self, key: tuple[str, str, str], words: Sequence[str], read: Callable[[str], Values], workers: int | None = None,
                     seconds_max: float = RUN_SECONDS_MAX, peer_program: str = "") -> Case:  # fmt: skip
        return command_case(key, words, read, self.cpus[: workers or self.workers], self.programs.folder, seconds_max, peer_program)

    def launch_case(self, key: tuple[str, str, str], by: Implementation, program: str, job: Job, read: Callable[[str], Values]) -> Case | None:
        """A case of a program that was built; None if it was not."""
        path = self.programs.path(program)
        if path is None:
            return None
        peer_program = "" if by.is_sorrel else path
        return self.command_case(key, by.launch(dataclasses.replace(job, program=path)), read, job.workers, peer_program=peer_program)


def cases(found: Sequence[Case | None]) -> list[Case]:
    return [case for case in found if case is not None]


def probe_build(name: str, part: str, by: Implementation) -> Build:
    return Build(f"{name} {by.name}", part, by.compiler, (probe_source(name),))


def graph_build(setting: VirtualSetting, name: str, part: str, sources: Sequence[str], flags: Sequence[str] = (), libraries: Sequence[str] = ()) -> Build:
    """A program of apps/ that uses task graphs, and perhaps the grid library."""
    include, archive = library_of(setting.command)
    grid = archive.with_name("libsorrel_grid.a")
    archives = [str(archive), *([str(grid)] if grid.is_file() else [])]
    files = tuple(ROOT / "apps" / name / source for source in sources)
    return Build(name, part, (setting.command, "cxx"), files, ("-std=c++20", f"-I{include}", *flags), (*reversed(archives), str(archive), *libraries))


def memory_gib() -> float:
    for line in pathlib.Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) / 2**20
    return 0.0
