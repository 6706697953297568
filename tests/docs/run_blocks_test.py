"""What run_blocks.py finds on a page, and that a wrong page fails."""
import pathlib
import tempfile
import unittest

import run_blocks


class RunBlocks(unittest.TestCase):
    def run_page(self, text: str) -> int:
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "page.md"
            page.write_text(text, encoding="utf-8")
            return run_blocks.run(run_blocks.Page(page), pathlib.Path("/usr"), pathlib.Path(folder))

    def test_a_right_page(self):
        self.assertEqual(self.run_page("```c\n// a.c\nint x;\n```\n\n```sh\ngrep x a.c\nvalue=3\n```\n"
                                       "```console\n$ echo it is $value\nit is 3\n$ value=4\n```\n```sh\ntest $value = 4\n```\n"), 0)

    def test_a_command_that_fails(self):
        self.assertEqual(self.run_page("```sh\nfalse\ntrue\n```\n"), 1)

    def test_a_command_of_a_pipe_that_fails(self):
        self.assertEqual(self.run_page("```sh\nfalse | cat\n```\n"), 1)

    def test_wrong_output(self):
        self.assertEqual(self.run_page("```console\n$ echo 1\n2\n```\n"), 1)

    def test_blocks_that_are_not_run(self):
        self.assertEqual(self.run_page("<!-- not run: it fails -->\n```sh\nfalse\n```\n```cmake\nfalse\n```\n"), 0)

    def test_a_program_of_the_reader(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for made in ("bin", "examples", "bench"):
                (folder / made).mkdir()
            (folder / "bin" / "sorrel").write_text("#!/bin/sh\nset -e\ncp $3 $5\nchmod +x $5\n")  # sorrel cc -O2 SOURCE -o NAME
            (folder / "bin" / "sorrel").chmod(0o755)
            (folder / "examples" / "heat.c").write_text("#!/bin/sh\necho warm\n")
            page = folder / "page.md"
            for source, status in (("examples/heat.c", 0), ("examples/cold.c", 1)):
                page.write_text(f"<!-- program heat: {source} -->\n\n```console\n$ ./heat\nwarm\n```\n", encoding="utf-8")
                self.assertEqual(run_blocks.run(run_blocks.Page(page), folder, folder), status)

    def test_only_a_reason_leaves_a_block_out(self):
        self.assertEqual(self.run_page("<!-- not run -->\n```sh\nfalse\n```\n"), 1)


    def test_a_block_that_needs_a_command(self):
        self.assertEqual(self.run_page("<!-- needs: no-such-command -->\n```sh\nfalse\n```\n```sh\ntrue\n```\n"), 0)
        self.assertEqual(self.run_page("<!-- needs: sh -->\n```sh\nfalse\n```\n"), 1)

    def test_exceptions(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "page.md"
            for text, counted, left_out in (
                    ("```sh\ntrue\n```\n```text\nx\n```\n", 1, []),
                    ("<!-- not run: slow -->\n```sh\nsleep 9\n```\n", 1, [(2, "slow")]),
                    ("```\nsorrel run\n```\n", 1, [(1, None)]),
                    ("```c\nint x;\n```\n", 1, [(1, None)]),
                    ("<!-- page not run: rare -->\n```sh\ntrue\n```\n", 1, [(2, "rare")])):
                page.write_text(text, encoding="utf-8")
                self.assertEqual(run_blocks.Page(page).exceptions(), (counted, left_out))

    def test_a_page_that_is_not_run(self):
        self.assertEqual(self.run_page("<!-- page not run: rare -->\n```sh\nfalse\n```\n"), 0)


if __name__ == "__main__":
    unittest.main()
