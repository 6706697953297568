"""Reference pages that do not follow the sources are found."""
import unittest

import check_reference as check

SOURCE = 'fail("rank %d is not " "a rank; use %s\\n"); getenv("SORREL_SPIN"); getenv("SORREL_JOB");'
MAIN = 'constexpr Command commands[] = {\n {"run", "runs", f},\n {"ps", "lists", g},\n};\n{"internal", "", h}'


class CheckReference(unittest.TestCase):
    def test_messages(self):
        texts = check.literals(SOURCE)
        for message, is_known in (("rank ... is not a rank; use ...", True), ("is not a rank", True), ("use ... is not", False), ("rank 3", False)):
            self.assertEqual(check.unknown_messages(f"| `{message}` | cause | cure |", texts), [] if is_known else [message])

    def test_commands(self):
        self.assertEqual(check.command_differences("| `run` | runs |\n| `ps` | lists |", MAIN), set())
        self.assertEqual(check.command_differences("| `run` | runs |\n| `top` | shows |", MAIN), {"ps", "top"})

    def test_options(self):
        options = 'app->add_option("-n,--ranks", x,\napp->add_flag(\n  "--label", y'
        page = "`--label` is elsewhere\n### Options under a host MPI\n\n| `-n` | works | |\n%s\n## Next\n| `--label` | |\n"
        self.assertEqual(check.options_without_a_row(page % "| `--label`, `--x` | refused | |", options), set())
        self.assertEqual(check.options_without_a_row(page % "| `--x` | refused | `--label` |", options), {"--label"})

    def test_variables(self):
        self.assertEqual(check.unnamed_variables("`SORREL_SPIN`", [SOURCE]), set())
        self.assertEqual(check.unnamed_variables("`SORREL_SHARE`", [SOURCE]), {"SORREL_SPIN"})


if __name__ == "__main__":
    unittest.main()
