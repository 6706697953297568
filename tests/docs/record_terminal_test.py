"""Tests of docs/figures/record_terminal.py."""
import pathlib
import re
import sys
import unittest
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "docs" / "figures"))
import record_terminal  # noqa: E402


def text_of(line: record_terminal.Line) -> str:
    return "".join(letter for letter, _ in line)


class RecordTerminal(unittest.TestCase):
    def test_lines_are_drawn_again_in_their_place(self) -> None:
        screen = record_terminal.Screen()
        screen.write("title\r\none\r\ntwo\r\n\x1b[2A\x1b[KONE\r\n\x1b[K\r\nend")
        self.assertEqual([text_of(line) for line in screen.shown()], ["title", "ONE", "", "end"])

    def test_colours_belong_to_characters(self) -> None:
        screen = record_terminal.Screen()
        screen.write("a\x1b[32mb\x1b[0m\x1b[38;5;208mc\x1b[0m")
        self.assertEqual([style[0] for _, style in screen.shown()[0]],
                         [record_terminal.COLOURS[39], record_terminal.COLOURS[32], "#ff8700"])

    def test_what_it_does_not_know_is_an_error(self) -> None:
        for text in ("\x1b[2J", "\x1b]0;title\a", "\x1b[7m"):
            with self.assertRaises(ValueError):
                record_terminal.Screen().write(text)

    def test_an_escape_that_arrives_in_two_pieces_is_one(self) -> None:
        frames = record_terminal.frames_of([(0.0, "a\x1b[3"), (1.0, "2mb\x1b[0m")])
        self.assertEqual(text_of(frames[-1][1][0]), "ab")
        self.assertEqual(frames[-1][1][0][1][1][0], record_terminal.COLOURS[32])

    def test_each_version_of_a_line_is_shown_in_its_time(self) -> None:
        frames = record_terminal.frames_of([(0.0, "$ x\r\n"), (1.0, "50\r"), (2.0, "99\r\n")])
        text = record_terminal.picture(frames, "x <y>")
        root = xml.etree.ElementTree.fromstring(text)
        groups = root.findall("{http://www.w3.org/2000/svg}g")
        shown = ["".join(group.itertext()) for group in groups]
        self.assertEqual(shown, ["$ x", "50", "99"])
        self.assertEqual([group.get("visibility") for group in groups], ["visible", "hidden", "visible"])
        total = 2 + record_terminal.HOLD_S
        self.assertEqual(re.findall(r"keyTimes='([^']*)'", text), ["0.0000", f"0.0000;{1 / total:.4f};{2 / total:.4f}", f"0.0000;{2 / total:.4f}"])


if __name__ == "__main__":
    unittest.main()
