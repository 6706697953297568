"""Tests of the runner's parts: testlists, bounded processes, results that are kept, causes, the page, the command."""
import contextlib
import io
import os
import sys
import tempfile
import time
import unittest

import causes
import differences
import page
import run
from entry import Entry, Outcome, Result, Rule
from launch import Launch, find_launch
from process import Interrupted, Live, run_bounded
from runner import Runner
from store import Store, wanted
from testlist import parse_line, programs_of_makefile, read_testlist


def result_of(key, outcome, *, chapter="coll", launch="one", reason=""):
    return Result(key, "mpich", chapter, launch, outcome, reason)


class Testlists(unittest.TestCase):
    def test_a_line_names_program_ranks_and_keys(self):
        entry = parse_line("inner/bcast 5 arg=-n=3 env=A=b timeLimit=600 resultTest=TestErrFatal  # why", "coll", "coll")
        self.assertEqual((entry.folder, entry.program, entry.ranks), ("coll/inner", "bcast", 5))
        self.assertEqual((entry.arguments, entry.environment, entry.time_limit_s, entry.rule), (("-n=3",), ("A=b",), 600.0, Rule.FATAL))
        self.assertEqual(entry.key, "mpich:coll/inner/bcast 5 -n=3 A=b")

    def test_comments_directives_and_disabled_entries_are_left_out(self):
        for line in ("", "# bcast 5", "!pre:build", "@spawndir@"):
            self.assertIsNone(parse_line(line, "coll", "coll"), line)

    def test_reasons_not_to_run(self):
        self.assertIn("extension", parse_line("a 2 strict=false", "coll", "coll").not_applicable)
        self.assertIn("GPU", parse_line("a 2 hasgpu=any", "coll", "coll").not_applicable)
        self.assertIn("memory", parse_line("a 2 mem=12.5", "coll", "coll").not_applicable)
        self.assertEqual(parse_line("a 2 mem=1.5", "coll", "coll").not_applicable, "")
        self.assertIn("C++", parse_line("a 2", "cxx", "cxx").not_applicable)

    def test_folders_and_the_testlist_that_configure_wrote(self):
        with tempfile.TemporaryDirectory() as root:
            for path, text in (("src/f77/testlist", "attr\n"), ("src/f77/attr/testlist", "old 1\n"), ("build/f77/attr/testlist", "new 3\n"),
                               ("src/basic/Makefile.am", "noinst_PROGRAMS = \\\n self \\\n simple\n")):
                os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
                with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                    file.write(text)
            source, build = os.path.join(root, "src"), os.path.join(root, "build")
            self.assertEqual([e.key for e in read_testlist(source, build, "f77")], ["mpich:f77/attr/new 3"])
            self.assertEqual([(e.program, e.rule) for e in read_testlist(source, build, "basic")],
                             [("self", Rule.BENCH), ("simple", Rule.BENCH)])
            self.assertEqual(list(read_testlist(source, build, "absent")), [])
        self.assertEqual(programs_of_makefile("bin_PROGRAMS = a\n"), [])


class Processes(unittest.TestCase):
    def test_status_and_both_outputs(self):
        done = run_bounded([sys.executable, "-c", "import sys; print(1); print(2, file=sys.stderr); sys.exit(3)"], limit_s=60)
        self.assertEqual((done.status, sorted(done.text.split()), done.timed_out), (3, ["1", "2"], False))

    def test_a_limit_ends_the_command_and_its_children(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "pid")
            # The limit begins before the shell does, which may be late.
            done = run_bounded(["sh", "-c", f"sleep 1000 & echo $! >{path}; wait"], limit_s=4)
            self.assertTrue(done.timed_out)
            with open(path, encoding="utf-8") as file:
                child = int(file.read())
        deadline = time.monotonic() + 90
        while not self.has_ended(child) and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertLess(time.monotonic(), deadline)

    @staticmethod
    def has_ended(process):
        try:
            with open(f"/proc/{process}/stat", encoding="utf-8") as file:
                return file.read().split()[2] == "Z"  # not yet collected by its new parent
        except (FileNotFoundError, ProcessLookupError):
            return True

    def test_an_interrupt_ends_the_commands_that_run(self):
        class Suite:
            def program(self, _entry):
                return "/bin/true", ""

            def folder_of(self, _entry):
                return "/"

        def interrupt(_number, _result):
            raise KeyboardInterrupt

        with tempfile.TemporaryDirectory() as folder:
            os.mkfifo(os.path.join(folder, "go"))
            launch = Launch("x", "x", f"sh -c 'if [ {{n}} = 1 ]; then : <{folder}/go; else : >{folder}/go; exec sleep 1000; fi'")
            entries = [Entry("mpich", "coll", "coll", "a", ranks) for ranks in (1, 2)]
            begun = time.monotonic()
            with self.assertRaises(KeyboardInterrupt):
                Runner(Suite(), launch).run_all(entries, Store(os.path.join(folder, "results")), 2, interrupt)
            self.assertLess(time.monotonic() - begun, 60)

    def test_nothing_starts_after_an_interrupt(self):
        live = Live()
        live.end()
        with self.assertRaises(Interrupted):
            run_bounded(["sleep", "1000"], limit_s=60, live=live)

    def test_a_missing_program_of_a_suite_is_a_result(self):
        class Suite:
            def program(self, _entry):
                return "", "undefined reference to `MPI_Open_port'"
        done = Runner(Suite(), find_launch("one")).run(Entry("mpich", "spawn", "spawn", "a", 1))
        self.assertEqual((done.outcome, done.reason), (Outcome.MISSING, "mpi_open_port"))

    def test_programs_of_files_in_one_folder_run_one_at_a_time(self):
        class Suite:
            def program(self, _entry):
                return "/bin/true", ""

            def folder_of(self, _entry):
                return "/"

        with tempfile.TemporaryDirectory() as folder:
            # Fails if another one runs at the same time.
            launch = Launch("x", "x", f"sh -c 'mkdir {folder}/busy && sleep 0.05 && rmdir {folder}/busy && echo No Errors'")
            entries = [Entry("mpich", "f90", "f90/io", f"write{i}", 1) for i in range(6)]
            store = Store(os.path.join(folder, "results"))
            Runner(Suite(), launch).run_all(entries, store, 3, lambda _number, _result: None)
        self.assertEqual({result.outcome for result in store.results.values()}, {Outcome.PASSED})

    def test_launches(self):
        self.assertEqual(find_launch("procs").command(5, "/a b", ("-x",)), ["sorrel", "run", "--procs", "2", "-n", "5", "/a b", "-x"])
        self.assertEqual(find_launch("procs").command(1, "a", ())[3], "1")
        openmpi = find_launch("openmpi")
        self.assertEqual(openmpi.command(3, "a", ())[-6:], ["2", "sorrel", "run", "-n", "3", "a"])
        self.assertEqual(openmpi.environment({})["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"], "1")
        self.assertEqual(find_launch("host").environment({}), {})
        baseline = find_launch("baseline", "/opt/mpi")
        self.assertEqual(baseline.command(2, "a", ()), ["/opt/mpi/bin/mpiexec", "-n", "2", "a"])
        self.assertEqual(baseline.environment({"LD_LIBRARY_PATH": "/x"}, ("A=b=c",)), {"LD_LIBRARY_PATH": "/opt/mpi/lib:/x", "A": "b=c"})


class Results(unittest.TestCase):
    def test_results_survive_and_an_unfinished_line_is_run_again(self):
        entries = [Entry("mpich", "coll", "coll", name, 2) for name in "abc"]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "one.jsonl")
            store = Store(path)
            store.add(result_of(entries[0].key, Outcome.PASSED))
            store.add(result_of(entries[1].key, Outcome.CRASH))
            with open(path, "a", encoding="utf-8") as file:
                file.write('{"key": "mpich:coll/c 2", "sui')
            results = Store(path).results
        self.assertEqual([e.program for e in wanted(entries, results, None)], ["c"])
        self.assertEqual([e.program for e in wanted(entries, results, "failed")], ["b", "c"])
        self.assertEqual(len(wanted(entries, results, "all")), 3)


class Causes(unittest.TestCase):
    text = '[cancel]\nkind = "upstream"\ntext = "demands a cancelled send"\nentries = ["mpich:pt2pt/p?scancel .*"]\n' \
           '[slow]\nkind = "defect"\ntext = "slow"\nentries = ["mpich:.*"]\nlaunches = ["host"]\n'

    def test_a_cause_is_found_by_pattern_and_launch(self):
        table = causes.parse_causes(self.text)
        self.assertEqual(causes.cause_of(result_of("mpich:pt2pt/scancel 2", Outcome.WRONG), table).name, "cancel")
        self.assertIsNone(causes.cause_of(result_of("mpich:pt2pt/scancel 2", Outcome.PASSED), table))
        self.assertIsNone(causes.cause_of(result_of("mpich:pt2pt/scancel_unmatch 2", Outcome.WRONG), table))
        self.assertEqual(causes.cause_of(result_of("mpich:coll/a 2", Outcome.HANG, launch="host"), table).name, "slow")
        self.assertEqual([c.name for c in causes.unused(table, [result_of("mpich:pt2pt/scancel 2", Outcome.WRONG)])], ["slow"])

    def test_an_incomplete_cause_is_an_error(self):
        for text in ('[a]\nkind = "defect"\ntext = "x"\n', '[a]\nkind = "odd"\ntext = "x"\nentries = []\n',
                     '[a]\nkind = "defect"\ntext = "x"\nentries = []\nnote = "y"\n'):
            with self.assertRaises(ValueError):
                causes.parse_causes(text)

    def test_the_reviewed_table_can_be_read(self):
        with open(os.path.join(run.HERE, "causes.toml"), encoding="utf-8") as file:
            self.assertTrue(causes.parse_causes(file.read()))


class Page(unittest.TestCase):
    def test_counts_causes_and_percentages(self):
        table = causes.parse_causes(Causes.text)
        results = [result_of("mpich:coll/a 2", Outcome.PASSED), result_of("mpich:coll/b 2", Outcome.CRASH),
                   result_of("mpich:pt2pt/scancel 2", Outcome.WRONG, chapter="pt2pt"),
                   result_of("mpich:pt2pt/gpu 2", Outcome.NOT_APPLICABLE, chapter="pt2pt", reason="needs a GPU")]
        text = page.page([page.suite_section("mpich", "5.0", {"one": results}, {"one": "one process"}, table)])
        for line in ("| Chapter | one process |", "| coll | 1 / 1 / 0 |", "| pt2pt | 0 / 0 / 2 |", "| all | 1 / 1 / 2 |",
                     "| passed of applicable | 50.0 % |", "**not examined**", "| `coll/b 2` | crash | one |",
                     "**demands a cancelled send (upstream)**", "- 1 entries: needs a GPU"):
            self.assertIn(line, text.splitlines())

    def test_the_library_and_what_was_checked_are_named(self):
        results = [result_of("osu:pt2pt/osu_bw 2", Outcome.PASSED, chapter="pt2pt", reason="19 rows checked, 0 wrong"),
                   result_of("osu:pt2pt/osu_latency 2", Outcome.PASSED, chapter="pt2pt", reason="19 rows checked, 0 wrong"),
                   result_of("osu:startup/osu_init 2", Outcome.PASSED, chapter="startup")]
        for result in results:
            result.library = "sorrel 1.0, commit abc"
        lines = page.suite_section("osu", "", {"one": results}, {"one": "one process"}, [])
        for line in ("Run with sorrel 1.0, commit abc (3 entries).", "| pt2pt | one | 2 | 38 rows in 2 entries |", "| startup | one | 1 |  |"):
            self.assertIn(line, lines)

    def test_tests_of_modules_are_summed(self):
        results = [result_of("mpi4py:test/main.py 2 -i a", Outcome.PASSED, chapter="2 ranks", reason="10 tests run, 4 skipped, 0 failed"),
                   result_of("mpi4py:test/main.py 2 -i b", Outcome.PASSED, chapter="2 ranks", reason="7 tests run, 1 skipped, 0 failed")]
        self.assertIn("| 2 ranks | one | 2 | 17 tests, 5 of them skipped by themselves |", page.details({"one": results}))

    def test_several_libraries_are_named_with_their_chapters(self):
        results = [result_of("mpich:coll/a 2", Outcome.PASSED), result_of("mpich:coll/b 2", Outcome.PASSED),
                   result_of("mpich:rma/a 2", Outcome.PASSED, chapter="rma")]
        for result, commit in zip(results, ("abc", "abc", "def")):
            result.library = "sorrel 1.0, commit " + commit
        lines = page.libraries({"one": results}, {"one": "one process"})
        self.assertIn("| sorrel 1.0, commit abc | one process | coll |", lines)
        self.assertIn("| sorrel 1.0, commit def | one process | rma |", lines)

    def test_prose_is_wrapped(self):
        table = causes.parse_causes(f'[a]\nkind = "defect"\ntext = "{"word " * 80}"\nentries = [".*"]\n')
        lines = page.failures({"one": [result_of("mpich:coll/a 2", Outcome.HANG, reason="60 s")]}, table)
        self.assertTrue(all(len(line) <= page.WIDTH for line in lines))
        self.assertIn("| `coll/a 2` | time limit, 60 s | one |", lines)


class Differences(unittest.TestCase):
    REFERENCE = {key: result_of(key, outcome) for key, outcome in (("a", Outcome.PASSED), ("b", Outcome.PASSED), ("c", Outcome.MPI_ERROR),
                                                                   ("d", Outcome.MPI_ERROR), ("e", Outcome.PASSED))}

    def compared(self, **outcomes):
        """The table and the differing entries of a launch with these outcomes."""
        by_launch = {"mpich-built": {key: result_of(key, outcome, launch="mpich-built") for key, outcome in outcomes.items()}}
        return (differences.table(by_launch, self.REFERENCE, {"mpich-built": "built"})[2:],
                list(differences.differing(by_launch, self.REFERENCE)))

    def test_an_entry_that_fails_in_both_or_does_not_compile_is_not_counted(self):
        lines, differ = self.compared(a=Outcome.PASSED, b=Outcome.WRONG, c=Outcome.MPI_ERROR, d=Outcome.PASSED, e=Outcome.MISSING)
        self.assertEqual(lines, ["| coll | 2 of 3 |", "| all | 2 of 3 |"])
        self.assertEqual(differ, [("b", "mpich-built", "wrong result"), ("e", "mpich-built", "missing function")])

    def test_an_entry_without_a_result_in_the_reference_counts_if_it_passes(self):
        self.assertEqual(self.compared(x=Outcome.PASSED, y=Outcome.CRASH), (["| coll | 1 of 1 |", "| all | 1 of 1 |"], []))


class Command(unittest.TestCase):
    def check(self, words, status, text):
        err = io.StringIO()
        with contextlib.redirect_stderr(err), contextlib.redirect_stdout(io.StringIO()):
            try:
                ended = run.main(words)
            except SystemExit as end:
                ended = end.code
        self.assertEqual(ended, status, err.getvalue())
        self.assertIn(text, err.getvalue())

    def test_wrong_arguments_end_with_status_2(self):
        self.check([], 2, "name a suite")
        self.check(["hpcc"], 2, "hpcc is no suite")
        self.check(["osu"], 2, "osu needs --osu FOLDER")
        self.check(["mpich", "-j", "0"], 2, "-j must be")
        self.check(["mpich", "--launch", "moon"], 2, "moon is no launch")
        self.check(["--differences", "moon"], 2, "moon is no launch")
        self.check(["mpich", "--launch", "baseline"], 2, "needs --baseline")
        self.check(["mpich", "--cache", os.path.join(run.ROOT, "build")], 2, "outside of the source tree")

    def test_benchmarks_run_are_recorded_and_continued(self):
        with tempfile.TemporaryDirectory() as root:
            programs = {"bin/sorrel": "shift 3\nexec \"$@\"", "bin/mpicc": "exit 1", "osu/standard/osu_bw": "echo 1 2.0 Pass",
                        "osu/standard/osu_bibw": "echo 1 2.0 Fail", "osu/startup/osu_init": "exit 0"}
            for path, text in programs.items():
                path = os.path.join(root, path)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as file:
                    file.write("#!/bin/sh\n" + text + "\n")
                os.chmod(path, 0o755)
            words = ["osu", "--osu", os.path.join(root, "osu"), "--bin", os.path.join(root, "bin"), "--cache", os.path.join(root, "cache")]
            path = dict(os.environ)
            try:
                self.check(words, 1, "")
                self.check([*words, "--chapters", "startup"], 0, "")
                with open(os.path.join(root, "osu/standard/osu_bibw"), "w", encoding="utf-8") as file:
                    file.write("#!/bin/sh\necho 1 2.0 Pass\n")
                self.check(words, 1, "")                            # the old result stands
                self.check([*words, "--again", "failed", "--rebuild"], 0, "")   # the user's programs stay
            finally:
                os.environ.clear()
                os.environ.update(path)
            out = os.path.join(root, "page.md")
            self.check(["--cache", os.path.join(root, "cache"), "--page", out], 0, "")
            with open(out, encoding="utf-8") as file:
                written = file.read()
            self.assertIn("| standard | 2 / 0 / 0 |", written)
            os.remove(os.path.join(root, "cache/results/osu.one.jsonl"))
            self.check(["--cache", os.path.join(root, "cache"), "--page", out], 0, "")   # the section stays
            with open(out, encoding="utf-8") as file:
                self.assertEqual(file.read(), written)


if __name__ == "__main__":
    unittest.main()
