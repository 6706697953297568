"""Benchmark suites that check what they receive: Intel's MPI Benchmarks (compiled with -DCHECK), OSU's micro-benchmarks (-c).

Both come as folders of programs that the user has built with Sorrel's compiler wrappers by the suites' own makefiles. A program with
so many ranks is an entry.
"""
import os
import re

from entry import Entry, Outcome, Rule

RANKS = (2, 8, 16)
TIME_LIMIT_S = 300.0
# Few repetitions: these runs check values and do not measure. -npmin: all ranks at once only.
IMB_OPTIONS = ("-iter", "5", "-msglog", "18", "-mem", "2")
# Compiled with -DCHECK, these write to an array that is allocated for other benchmarks only, or gather into it: they end with any MPI.
IMB_UNCHECKABLE = ("P_Write_Shared", "P_IWrite_Shared", "P_Read_Shared", "P_IRead_Shared", "C_Read_Shared", "C_IRead_Shared")
# Each repetition waits for the disk.
IMB_IO_OPTIONS = ("-iter", "2", "-msglog", "10:12", "-mem", "2", "-exclude", ",".join(IMB_UNCHECKABLE))
IMB_PROGRAMS = {"MPI1": (), "NBC": (), "RMA": (), "EXT": (), "IO": (), "MPI4": (), "P2P": (), "MT": ("-thread_level", "multiple", "-check", "yes")}
OSU_OPTIONS = ("-c", "-i", "10", "-x", "2", "-m", "1:65536")
# Programs of OSU's that need exactly two ranks; and those that take none of the options above.
OSU_TWO_RANKS = re.compile(r"osu_(latency|bw|bibw|persistent|put|get|acc|cas|fop|get_acc)")
OSU_PLAIN = re.compile(r"osu_(hello|init|latency_mt|latency_mp)$|.*barrier")


class Suite:
    """Programs below a folder. `name` is imb or osu."""

    def __init__(self, name, folder):
        self.name, self.root = name, os.path.abspath(folder)
        self.build = self.root  # the user's: never removed
        self.version = ""

    def prepare(self):
        """Nothing: the programs are there."""

    def folder_of(self, _entry):
        return self.root

    def program(self, entry):
        path = os.path.join(self.root, entry.folder, entry.program)
        return (path, "") if os.access(path, os.X_OK) else ("", f"{path} is not a program; it was not built")

    def entries(self, chapters):
        listed = _imb_entries() if self.name == "imb" else _osu_entries(self.root)
        return (entry for entry in listed if not chapters or entry.chapter in chapters)


def _imb_entries():
    for chapter, options in IMB_PROGRAMS.items():
        for ranks in RANKS:
            arguments = options or ("-npmin", str(ranks), *(IMB_IO_OPTIONS if chapter == "IO" else IMB_OPTIONS))
            yield Entry(suite="imb", chapter=chapter, folder="", program=f"IMB-{chapter}", ranks=ranks, arguments=arguments, rule=Rule.IMB,
                        time_limit_s=TIME_LIMIT_S)


def _programs_below(root):
    """(folder relative to the root, name) of each program of OSU's, in order; libtool's copies are left out."""
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name != ".libs")
        for name in sorted(files):
            path = os.path.join(folder, name)
            if name.startswith("osu_") and os.access(path, os.X_OK) and "." not in name:
                yield os.path.relpath(folder, root), name


def _osu_entries(root):
    for folder, name in _programs_below(root):
        plain = OSU_PLAIN.match(name)
        for ranks in (2,) if OSU_TWO_RANKS.match(name) else RANKS:
            yield Entry(suite="osu", chapter=os.path.basename(folder), folder=folder, program=name, ranks=ranks,
                        arguments=() if plain else OSU_OPTIONS, rule=Rule.BENCH if plain else Rule.OSU, time_limit_s=TIME_LIMIT_S)


def imb_rows(text):
    """(rows that were checked, rows with a defect) of the tables of an IMB program. The last column is the defect.

    A line with # ends a table. Tables without sizes (Barrier, Ibarrier) have no such column.
    """
    checked = defects = 0
    has_column = False
    for line in text.splitlines():
        words = line.split()
        if words and words[0].startswith("#"):
            has_column = words[-1] == "defects"
        elif has_column and len(words) > 2 and words[0].isdigit():
            checked += 1
            defects += float(words[-1]) != 0.0
    return checked, defects


def osu_rows(text):
    """(rows validated, rows that failed) of the table of an OSU program."""
    verdicts = [words[-1] for words in map(str.split, text.splitlines()) if len(words) > 2 and words[0].isdigit()]
    return verdicts.count("Pass"), verdicts.count("Fail")


def judge(entry, status, text):
    """(outcome, reason) of a benchmark that ended by itself."""
    if entry.rule is Rule.BENCH:
        return (Outcome.PASSED if status == 0 else Outcome.STATUS), ""
    rows, bad = imb_rows(text) if entry.rule is Rule.IMB else osu_rows(text)
    reason = f"{rows} rows checked, {bad} wrong"
    if bad or re.search(r"defect\w* +[=:] *[1-9]|DATA validation error", text):
        return Outcome.WRONG, reason
    if status != 0:
        return (Outcome.CRASH if status < 0 else Outcome.STATUS), reason
    return Outcome.PASSED, reason if rows else "ends with status 0; checks no data"
