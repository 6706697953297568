"""What check_api.py reports: classes without a description, on no page, on several pages."""
import pathlib
import tempfile
import unittest
from xml.etree import ElementTree

import check_api


class CheckApi(unittest.TestCase):
    def faults(self, description: str, *pages: str) -> list[str]:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "index.xml").write_text('<doxygenindex><compound refid="a" kind="class"><name>s::A</name></compound></doxygenindex>')
            (folder / "a.xml").write_text(f"<doxygen><compounddef><briefdescription>{description}</briefdescription>"
                                          "<detaileddescription/></compounddef></doxygen>")
            for number, text in enumerate(pages):
                (folder / f"{number}.md").write_text(text)
            return check_api.faults(folder, folder)

    def test_a_class_on_a_page(self):
        self.assertEqual(self.faults("<para>One.</para>", "```{doxygenclass} s::A\n```\n"), [])

    def test_a_member_of_a_class_on_a_page(self):
        self.assertEqual(self.faults("<para>One.</para>", "```{doxygenstruct} s\n```\n"), [])

    def test_no_description(self):
        self.assertEqual(self.faults(" ", "```{doxygenclass} s::A\n```\n"), ["s::A has no description"])

    def test_a_function_without_description(self):
        definition = ("<compounddef><briefdescription/><detaileddescription/><sectiondef>"
                      "{}</sectiondef></compounddef>")
        member = ('<memberdef kind="function" prot="{}"><name>{}</name><argsstring>{}</argsstring>'
                  "<briefdescription>{}</briefdescription><detaileddescription/></memberdef>")

        def silent(*arguments):
            return check_api.silent_functions(ElementTree.fromstring(definition.format(member.format(*arguments))))

        self.assertEqual(silent("public", "run", "()", ""), ["run"])
        self.assertEqual(silent("public", "run", "()", "<para>Runs.</para>"), [])
        self.assertEqual(silent("private", "run", "()", ""), [])
        self.assertEqual(silent("public", "operator==", "(A)", ""), [])
        self.assertEqual(silent("public", "A", "(const A &amp;)=delete", ""), [])

    def test_on_no_page(self):
        self.assertEqual(len(self.faults("<para>One.</para>", "`s::A`\n")), 1)

    def test_on_two_pages(self):
        page = "```{doxygenclass} s::A\n```\n"
        self.assertEqual(self.faults("<para>One.</para>", page, page), ["s::A is on several pages"])


if __name__ == "__main__":
    unittest.main()
