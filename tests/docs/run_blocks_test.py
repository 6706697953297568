"""What run_blocks.py finds on a page, and that a wrong page fails."""
import contextlib
import io
import pathlib
import tempfile
import unittest

import run_blocks
import terminal

# Stands for the command; `ps` lists the process that an earlier call has left in the file job.
SORREL = """#!/bin/sh
set -e
case $1 in
  cc) case $2 in
        -O2) cp $3 $5; chmod +x $5 ;;  # sorrel cc -O2 SOURCE -o NAME
        *) cc "${@}" ;;
      esac ;;
  run) echo $$ >job; exec sleep 60 ;;
  ps) cat job ;;
esac
"""


class RunBlocks(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name)
        for made in ("bin", "examples"):
            (self.folder / made).mkdir()
        self.write("bin/sorrel", SORREL.replace('cc "${@}"', 'shift; cc "$@"')).chmod(0o755)
        self.write("dev", "#!/bin/sh\nusage() {\n  demo   \nEOF\n")

    def write(self, name: str, text: str) -> pathlib.Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def run_page(self, text: str) -> int:
        page = self.write("page.md", text)
        self.printed = io.StringIO()
        with contextlib.redirect_stdout(self.printed):
            return run_blocks.run(run_blocks.Page(page), self.folder, self.folder)

    def test_a_right_page(self):
        self.assertEqual(self.run_page("```c\n// a.c\nint x;\n```\n\n```sh\ngrep x a.c\nvalue=3\n```\n"
                                       "```console\n$ echo it is $value\nit is 3\n$ value=4\n```\n```sh\ntest $value = 4\n```\n"), 0)

    def test_a_command_that_fails(self):
        self.assertEqual(self.run_page("```sh\nfalse\ntrue\n```\n"), 1)

    def test_a_command_of_a_pipe_that_fails(self):
        self.assertEqual(self.run_page("```sh\nfalse | cat\n```\n"), 1)

    def test_wrong_output(self):
        self.assertEqual(self.run_page("```console\n$ echo 1\n2\n```\n"), 1)

    def test_no_block_is_left_out(self):
        for text in ("<!-- not run: it fails -->\n```sh\ntrue\n```\n", "<!-- checked: podman -->\n```sh\ntrue\n```\n",
                     "<!-- checked: ; slow -->\n```sh\ntrue\n```\n", "<!-- checked: no-such-command; slow -->\n```sh\ntrue\n```\n",
                     "```\nsorrel run\n```\n", "```c\nint x;\n```\n", "```yaml\non: push\n```\n", "```cmake\nfalse\n```\n"):
            self.assertEqual(self.run_page(text), 1, text)
            self.assertIsNotNone(run_blocks.Page(self.folder / "page.md").counted()[0].fault())

    def test_a_program_and_a_file_of_the_reader(self):
        self.write("examples/heat.c", "#!/bin/sh\necho warm\n")
        for source, status in (("examples/heat.c", 0), ("examples/cold.c", 1)):
            self.assertEqual(self.run_page(f"<!-- program heat: {source} -->\n\n```console\n$ ./heat\nwarm\n```\n"), status)
            self.assertEqual(self.run_page(f"<!-- file heat.sh: {source} -->\n\n```console\n$ sh heat.sh\nwarm\n```\n"), status)

    def test_a_block_that_is_checked(self):
        page = "<!-- checked: ./dev; slow -->\n```sh\n./dev {}\n```\n```sh\ntest ! -e dev\n```\n"
        self.assertEqual(self.run_page(page.format("demo")), 0)
        self.assertEqual(self.run_page(page.format("dmeo")), 1)
        # The commands beside it run.
        self.assertEqual(self.run_page("<!-- checked: ./dev; slow -->\n```sh\n./dev demo\nfalse\n```\n"), 1)

    def test_a_page_that_is_checked(self):
        page = "<!-- page checked: ./dev; slow -->\n\n```sh\n./dev demo\n```\n<!-- run -->\n```sh\n{}\n```\n"
        self.assertEqual(self.run_page(page.format("true")), 0)
        self.assertEqual(self.run_page(page.format("./dev demo")), 1)

    def test_a_file_of_the_sources_is_not_written(self):
        self.write("CMakeLists.txt", "project(Sorrel)")
        self.assertEqual(self.run_page("```cmake\n# CMakeLists.txt\nproject(heat)\n```\n```sh\ngrep heat CMakeLists.txt\n```\n"), 0)
        self.assertEqual((self.folder / "CMakeLists.txt").read_text(), "project(Sorrel)")

    def test_a_stand_in_is_not_written_into_the_sources(self):
        self.assertEqual(self.run_page("<!-- checked: examples/dev; slow -->\n```sh\nexamples/dev demo\n```\n"), 1)
        self.assertFalse((self.folder / "examples" / "dev").exists())

    def test_a_block_that_needs_a_command(self):
        # perf is checked where it does not exist, and another command is run under its name where that exists.
        self.assertEqual(self.run_page("<!-- needs: perf=no-such-command -->\n```sh\nperf record true\n```\n"), 0)
        self.assertEqual(self.run_page("<!-- needs: perf=no-such-command -->\n```sh\nperf recrod true\n```\n"), 1)
        self.assertEqual(self.run_page("<!-- needs: no-such-command; perf -->\n```sh\nperf record true\n```\n"), 0)
        self.assertEqual(self.run_page("<!-- needs: true; perf -->\n```sh\nperf recrod true\n```\n"), 1)
        self.assertEqual(self.run_page("<!-- needs: perf=no-such-command -->\n```console\n$ perf record true\nwritten\n```\n"), 0)
        self.assertEqual(self.run_page("<!-- checked: perf; slow -->\n```console\n$ perf record true\nwritten\n```\n"), 1)
        self.assertEqual(self.run_page("<!-- needs: perf=echo -->\n```console\n$ perf recrod true\nrecrod true\n```\n"), 0)

    def test_a_job_that_runs_meanwhile(self):
        page = "<!-- job 4711: sorrel run -->\n```sh\nkill -0 4711\n{}\n```\n```sh\n! kill -0 $job\n```\n"
        self.assertEqual(self.run_page(page.format("true")), 0)
        self.assertEqual(self.run_page(page.format("kill 4711; wait 4711")), 1)

    def test_a_block_that_is_compiled(self):
        page = "<!-- compiled -->\n```c\nint f(void) {{ return {}; }}\n```\n"
        self.assertEqual(self.run_page(page.format("1")), 0)
        self.assertEqual(self.run_page(page.format("x")), 1)
        self.assertEqual(self.run_page("<!-- compiled -->\n```c\nint f(void) { int x; return 1; }\n```\n"), 1)

    def test_a_workflow(self):
        page = ("<!-- checked: git; slow -->\n```yaml\nname: a\non: [push]\njobs:\n  test:\n    runs-on: ubuntu-24.04\n    steps:\n"
                "      - name: one\n        run: |\n          echo \"$PWD/here\" >> \"$GITHUB_PATH\"\n          mkdir here; cp examples/a here\n"
                "      - run: {}\n```\n")
        self.write("examples/a", "#!/bin/sh\n").chmod(0o755)
        self.assertEqual(self.run_page(page.format("a")), 0)
        self.assertEqual(self.run_page(page.format("b")), 1)
        self.assertEqual(self.run_page("<!-- checked: git; slow -->\n```yaml\non: [push]\n```\n"), 1)

    def test_a_workflow_with_the_action(self):
        page = ("<!-- checked: git; slow -->\n```yaml\nname: a\non: [push]\njobs:\n  test:\n    runs-on: ubuntu-24.04\n    steps:\n"
                "      - uses: OWNER/sorrel/packaging/action@main\n        with:\n          build: cp examples/a a\n          program: ./a\n"
                "          {}: --few 2\n```\n")
        self.write("examples/a", "#!/bin/sh\n").chmod(0o755)
        (self.folder / "packaging/action").mkdir(parents=True)
        self.write("packaging/action/action.yml", (pathlib.Path(__file__).parents[2] / "packaging/action/action.yml").read_text(encoding="utf-8"))
        self.write("bin/sorrel", "#!/bin/sh\n[ \"$*\" = 'test --junit sorrel-junit.xml --sarif sorrel.sarif --few 2 ./a' ] && [ -x a ]\n").chmod(0o755)
        self.assertEqual(self.run_page(page.format("options")), 0)
        self.write("bin/sorrel", "#!/bin/sh\nexit 66\n").chmod(0o755)
        self.assertEqual(self.run_page(page.format("options")), 1)
        self.write("bin/sorrel", "#!/bin/sh\n").chmod(0o755)
        self.assertEqual(self.run_page(page.format("opitons")), 1)

    def test_a_session_in_a_terminal(self):
        self.write("bin/talk", "#!/bin/sh\nwhile printf '(gdb) '; read -r line; do [ \"$line\" = quit ] && exit; echo \"<$line>\"; done\n").chmod(0o755)
        page = "```console\n$ word=sun; talk\n(gdb) {}\n```\n".replace("word=sun; ", "")
        self.assertEqual(self.run_page(page.format("rain\n<rain>\n(gdb) quit")), 0)
        self.assertEqual(self.run_page(page.format("rain\n<sun>\n(gdb) quit")), 1)
        self.assertEqual(self.run_page(page.format("quit\n(gdb) rain")), 1)
        self.assertEqual(terminal.steps_of("> ", "> a\nx\n...\ny\n> b\n"), [("a", ["x", "y"]), ("b", [])])

    def test_the_summary(self):
        def summary(text: str) -> tuple[int, str]:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                status = run_blocks.summarize([run_blocks.Page(self.write("page.md", text))])
            return status, printed.getvalue().splitlines()[-1]

        self.assertEqual(summary("```sh\ntrue\n```\n```text\nx\n```\n"), (0, "1 blocks: 1 run, 0 are checked"))
        self.assertEqual(summary("<!-- checked: perf; slow -->\n```sh\nperf\n```\n"), (0, "1 blocks: 0 run, 1 are checked"))
        self.assertEqual(summary("```\nx\n```\n"), (1, "1 blocks: 0 run, 0 are checked"))


if __name__ == "__main__":
    unittest.main()
