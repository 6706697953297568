import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
import forms  # noqa: E402


class Choices(unittest.TestCase):
    def test_the_slower_form_is_right_only_within_five_percent(self):
        for one, several, processes, is_right in ((1.0, 2.0, 1, True), (1.0, 2.0, 2, False), (2.0, 1.0, 2, True), (2.0, 1.0, 1, False), (1.04, 1.0, 1, True), (1.0, 1.06, 2, False)):
            self.assertEqual(forms.Outcome("p", one, several, processes).is_right, is_right)

    def test_a_row_names_the_form_and_the_verdict(self):
        self.assertRegex(forms.row_of(forms.Outcome("p", 1.0, 2.0, 2)), r"^p +1\.000 +2\.000 +2 processes +WRONG$")

    def test_the_note_of_a_settled_job_is_read(self):
        note = "sorrel: note: --procs auto: 2 processes: the program's data can be private to a rank, earlier runs took 5 s in one process and 2 s in a process for each core; idle"
        self.assertEqual(forms.LEARNT.search(note)[1], "2")
        self.assertIsNone(forms.LEARNT.search("sorrel: note: --procs auto: 1 process: the program's data can be private to a rank, run 1 of 4 that try both forms; idle"))

    def test_there_are_six_programs_whose_sources_exist(self):
        self.assertEqual(len(forms.PROGRAMS), 6)
        for program in forms.PROGRAMS:
            self.assertTrue((pathlib.Path(forms.ROOT) / program.source).is_file(), program.source)


if __name__ == "__main__":
    unittest.main()
