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

    @staticmethod
    def member(text: str, kind: str = "function", prot: str = "public") -> ElementTree.Element:
        return ElementTree.fromstring(f'<compounddef><sectiondef><memberdef kind="{kind}" prot="{prot}">{text}</memberdef></sectiondef></compounddef>')

    PARAMETER = ("<detaileddescription><parameterlist kind=\"param\"><parameteritem><parameternamelist><parametername>{}</parametername>"
                 "</parameternamelist></parameteritem></parameterlist></detaileddescription>")

    def test_a_function_without_description(self):
        text = "<type/><name>{}</name><argsstring>{}</argsstring><briefdescription>{}</briefdescription><detaileddescription/>"

        def silent(prot, *arguments):
            return check_api.faults_of_members(self.member(text.format(*arguments), prot=prot))

        self.assertEqual(silent("public", "run", "()", ""), ["run has no description"])
        self.assertEqual(silent("public", "run", "()", "<para>Runs.</para>"), [])
        self.assertEqual(silent("private", "run", "()", ""), [])
        self.assertEqual(silent("public", "operator==", "(A)", ""), [])
        self.assertEqual(silent("public", "A", "(const A &amp;)=delete", ""), [])

    def test_a_parameter_without_description(self):
        text = "<type>void</type><name>run</name><param><type>int</type><declname>steps</declname></param><briefdescription>Runs.</briefdescription>{}"
        self.assertEqual(check_api.faults_of_members(self.member(text.format(""))), ["run does not describe steps"])
        self.assertEqual(check_api.faults_of_members(self.member(text.format(self.PARAMETER.format("step")))), ["run does not describe steps"])
        self.assertEqual(check_api.faults_of_members(self.member(text.format(self.PARAMETER.format("steps")))), [])
        unnamed = "<type>void</type><name>run</name><param><type>int</type></param><briefdescription>Runs.</briefdescription>"
        self.assertEqual(check_api.faults_of_members(self.member(unnamed)), [])

    def test_what_is_returned(self):
        text = "<type>{}</type><name>rank</name><briefdescription>The rank.</briefdescription><detaileddescription>{}</detaileddescription>"
        returned = '<para><simplesect kind="return"><para>the rank</para></simplesect></para>'
        self.assertEqual(check_api.faults_of_members(self.member(text.format("constexpr int", ""))), ["rank does not say what it returns"])
        self.assertEqual(check_api.faults_of_members(self.member(text.format("constexpr int", returned))), [])
        for nothing in ("", "void", "virtual void"):
            self.assertEqual(check_api.faults_of_members(self.member(text.format(nothing, ""))), [])

    def test_what_is_thrown(self):
        text = "<type>void</type><name>run</name><briefdescription>{}</briefdescription>{}"
        thrown = self.PARAMETER.replace('kind="param"', 'kind="exception"').format("GraphError")
        self.assertEqual(check_api.faults_of_members(self.member(text.format("Throws GraphError.", ""))), ["run throws without @throws"])
        self.assertEqual(check_api.faults_of_members(self.member(text.format("Throws GraphError.", thrown))), [])

    def test_a_variable(self):
        text = "<type>int</type><name>rank</name><briefdescription>{}</briefdescription>"
        self.assertEqual(check_api.faults_of_members(self.member(text.format(""), "variable")), ["rank has no description"])
        self.assertEqual(check_api.faults_of_members(self.member(text.format("The rank."), "variable")), [])

    def test_functions_of_a_namespace(self):
        definition = ElementTree.fromstring('<compounddef><memberdef kind="function"><name>run</name></memberdef>'
                                            '<memberdef kind="function"><name>operator+</name></memberdef></compounddef>')
        self.assertEqual(check_api.functions_of(definition, "s"), {"s::run"})
        self.assertEqual(check_api.FUNCTION_DIRECTIVE.findall("```{doxygenfunction} s::run(int)\n```\n```{doxygenfunction} s::end\n```\n"), ["s::run", "s::end"])

    def test_on_no_page(self):
        self.assertEqual(len(self.faults("<para>One.</para>", "`s::A`\n")), 1)

    def test_on_two_pages(self):
        page = "```{doxygenclass} s::A\n```\n"
        self.assertEqual(self.faults("<para>One.</para>", page, page), ["s::A is on several pages"])


if __name__ == "__main__":
    unittest.main()
