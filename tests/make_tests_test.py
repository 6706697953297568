"""How a table of tests becomes statements of CMake: tests/make_tests.py."""
import tempfile
import unittest
from pathlib import Path

from make_tests import Table, TableError, cmake_of


def tests_of(text, folder=".", **values):
    """The name, command and properties of each test."""
    return [(name, test["command"], test["properties"]) for name, test in Table(text, values, folder).tests.items()]


def names_of(text, **values):
    return [name for name, _, _ in tests_of(text, **values)]


class Tests(unittest.TestCase):
    def test_a_test_has_a_name_a_command_and_what_with_lines_set(self):
        self.assertEqual(tests_of("with prefix=omp. label=omp timeout=60\ntest plain ${built}/run -n 2\n", built="/b"),
                         [("omp.plain", ["/b/run", "-n", "2"], {"LABELS": "omp", "TIMEOUT": "60"})])

    def test_words_are_divided_as_in_a_shell(self):
        self.assertEqual(tests_of("""test a 'one word' "two $ words" three\\ words "" a"b c"d # and a comment\n""")[0][1],
                         ["one word", "two $ words", "three words", "", "ab cd"])

    def test_single_quotes_and_backslashes_keep_dollars(self):
        self.assertIn("[=[${x}]=] [=[${x}]=] [=[a\\.b]=] [=[$<x>]=]", cmake_of(Table("""test a '${x}' "\\${x}" "a\\.b" '$<x>'\n""", {}, "."), "t"))

    def test_the_name_of_a_program_is_its_file(self):
        self.assertEqual(tests_of("let name = two\ntest a $<one> $<x_${name}> $<TARGET_FILE_DIR:one>\n")[0][1],
                         ["$<TARGET_FILE:one>", "$<TARGET_FILE:x_two>", "$<TARGET_FILE_DIR:one>"])

    def test_a_list_is_several_words_or_one_in_quotes(self):
        self.assertEqual(tests_of("let l = a b\ntest x c ${l} \"${l}\" \"-${l}-\"\n")[0][1], ["c", "a", "b", "a b", "-a b-"])

    def test_an_empty_list_is_no_word(self):
        self.assertEqual(tests_of("let l =\ntest x c ${l} \"${l}\"\n")[0][1], ["c", ""])

    def test_a_line_that_is_indented_more_continues_the_one_above(self):
        self.assertEqual(tests_of("test x c\n    d\n    e\ntest y c\n")[0][1], ["c", "d", "e"])

    def test_loops_are_products(self):
        self.assertEqual(names_of("for a in 1 2:\n  for b:c in x:y z:w:\n    test ${a}${b}${c} r\n"), ["1xy", "1zw", "2xy", "2zw"])

    def test_a_loop_has_a_range_a_counter_and_lists(self):
        self.assertEqual(tests_of("for at, name:options... in \"a:-n 2\" b::\n  test ${name} c $((10 * ${at} + 1)) ${options}\n"),
                         [("a", ["c", "1", "-n", "2"], {}), ("b", ["c", "11"], {})])
        self.assertEqual(names_of("for seed in 3..5:\n  test ${seed} r\n"), ["3", "4", "5"])

    def test_a_loop_over_files_asks_for_a_new_configuration(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("b.c", "a.c", "c.cpp", "d.h"):
                Path(folder, name).touch()
            table = Table("for name.suffix in *.c*:\n  test ${name} r ${suffix}\n", {}, folder)
        self.assertEqual(list(table.tests), ["a", "b", "c"])
        self.assertIn(f"file(GLOB unused CONFIGURE_DEPENDS {folder}/*.c*)", cmake_of(table, "t"))

    def test_a_form_is_filled(self):
        text = "form ends name status command...:\n  test ${name} expect ${status} ${command}\nends a 3 x 'y z'\nends b 0\n"
        self.assertEqual(tests_of(text), [("a", ["expect", "3", "x", "y z"], {}), ("b", ["expect", "0"], {})])

    def test_a_test_of_a_form_is_at_the_line_that_fills_it(self):
        self.assertEqual(Table("form f name:\n  test ${name} r\n\nf a\n", {}, ".").tests["a"]["line"], 4)

    def test_with_holds_for_its_block_or_the_rest_of_one(self):
        text = "with timeout=1 env=A=1\nwith timeout=2 env=B=2:\n  test a r\nfor x in b:\n  with timeout=3\n  test ${x} r\ntest c r\n"
        self.assertEqual(tests_of(text), [("a", ["r"], {"TIMEOUT": "2", "ENVIRONMENT": "A=1;B=2"}),
                                          ("b", ["r"], {"TIMEOUT": "3", "ENVIRONMENT": "A=1"}), ("c", ["r"], {"TIMEOUT": "1", "ENVIRONMENT": "A=1"})])

    def test_a_key_twice_is_a_list_and_an_empty_value_removes(self):
        self.assertEqual(tests_of("with label=a label=b processors=2\ntest a r\nwith processors=:\n  test b r\n"),
                         [("a", ["r"], {"LABELS": "a;b", "PROCESSORS": "2"}), ("b", ["r"], {"LABELS": "a;b"})])

    def test_conditions(self):
        text = "if GDB:\n  test a r\nelse:\n  test b r\nif not GDB:\n  test c r\nif ${x} in 1 2:\n  test d r\nif ${x} not in 1 2:\n  test e r\n"
        self.assertEqual(names_of(text, GDB="/usr/bin/gdb", x="1"), ["a", "d"])
        for nothing in ("", "OFF", "GDB-NOTFOUND", "0"):
            self.assertEqual(names_of(text, GDB=nothing, x="3"), ["b", "c", "e"])

    def test_lists_of_cmake_are_lists(self):
        self.assertEqual(tests_of("test a ${l}\n", l="x;y")[0][1], ["x", "y"])

    def test_statements_of_cmake(self):
        table = Table("with label=x folder=/f\nmake program p p.c -O1\ntest a r ']=]' ';'\n", {}, ".")
        self.assertEqual(cmake_of(table, "t/tests.txt").splitlines(), [
            "# Made by make_tests.py from t/tests.txt", "# Line 2", "program([=[p]=] [=[p.c]=] [=[-O1]=])", "# Line 3",
            "add_test(NAME [=[a]=] COMMAND [=[r]=] [==[]=]]==] [=[;]=] WORKING_DIRECTORY [=[/f]=])",
            "set_tests_properties([=[a]=] PROPERTIES LABELS [=[x]=])"])


class Errors(unittest.TestCase):
    def check(self, text, line, message, **values):
        with self.assertRaises(TableError) as caught:
            Table(text, values, ".")
        self.assertEqual((caught.exception.line, str(caught.exception)), (line, message))

    def test_names(self):
        self.check("test a ${b}\n", 1, "unknown name 'b'")
        self.check("let b = 1\ntest a r\n", 1, "'b' is not used")
        self.check("form f x:\n  test ${x} r\ntest a r\n", 1, "'f' is not used")
        self.assertEqual(names_of("form f x:\n  test ${x} r\nif GDB:\n  f a\n", GDB=""), [])
        self.check("let l = a b\ntest a x${l}\n", 2, "'l' is 2 words: write it in quotes, or as a word of its own")

    def test_statements(self):
        self.check("tset a r\n", 1, "'tset' is no form of this table, nor one of for, if, else, with, form, let, make, test")
        self.check("test a\n", 1, "test NAME COMMAND...")
        self.check("test a r\ntest b r\ntest a r\n", 3, "test 'a' exists already, at line 1")
        self.check("form f x y z...:\n  test ${x} ${y} ${z}\nf a\n", 3, "'f' takes x y z..., not 1 words")
        self.check("form f x:\n  test ${x} r\nf a b\n", 3, "'f' takes x, not 2 words")
        self.check("form f x:\n  f ${x}\nf a\n", 2, "'f' contains itself")
        self.check("form test x:\n  test ${x} r\n", 1, "'test' exists already")
        self.check("with tiemout=3\n", 1, "'tiemout=3' is not KEY=VALUE with a key of prefix, folder, label, timeout, env, skip, serial, cost, "
                   "processors, pass, after, setup, requires")
        self.check("for a:b in x:\n  test a r\n", 1, "'x' is not a:b")
        self.check("for a in *.nothing:\n  test a r\n", 1, "no file matches '*.nothing'")
        self.check("test a r\nelse:\n  test b r\n", 2, "'else' without 'if'")
        self.check("if a b:\n  test a r\n", 1, "if [not] NAME: or if WORD [not] in WORDS...:")
        self.check("test a $((1 + x))\n", 1, "$((1 + x)): only whole numbers, + - * and %")

    def test_layout(self):
        self.check("test a 'r\n", 1, "a ' has no partner")
        self.check("test a \"r\n", 1, 'a " has no partner')
        self.check("for a in 1:\n  test ${a} r\n test b r\n", 3, "the indentation matches no line above")
        self.check("for a in 1:\ntest b r\n", 1, "nothing is indented below this line")
        self.check("for a in 1\n", 1, "a line 'for' ends with ':'")
        self.check("if a:\n\ttest b r\n", 2, "a tab at the beginning of a line; use blanks")


if __name__ == "__main__":
    unittest.main()
