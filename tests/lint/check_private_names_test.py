"""Each test plants private names in two sources of a small tree; the check must find those that clash, and accept the others."""

import check_private_names
from planted_tree import PlantedTree


def source(*lines):
    return "\n".join(["namespace sorrel::room {", "namespace {", *lines, "}  // namespace", "}  // namespace sorrel::room", ""])


class Tree(PlantedTree):
    def check(self, a, b, folder="src/room"):
        self.write(f"{folder}/a.cpp", a)
        self.write(f"{folder}/b.cpp", b)
        return check_private_names.check(self.root)

    def test_accepts_different_names(self):
        self.assertEqual(self.check(source("int one() { return 1; }"), source("int two() { return 2; }")), [])

    def test_finds_functions_with_the_same_parameters(self):
        (fault,) = self.check(
            source("bool is_same(std::string_view a, std::string_view b) { return a == b; }"),
            source("// Another way.", "bool is_same(std::string_view x,", "             std::string_view y) {", "  return y == x;", "}"),
        )
        self.assertTrue(fault.startswith("src/room/b.cpp: is_same is private in src/room/a.cpp, too"))

    def test_accepts_overloads(self):
        self.assertEqual(self.check(source("int find(int key) { return key; }"), source("int find(const char* key) { return *key; }")), [])

    def test_names_and_defaults_of_parameters_make_no_difference(self):
        self.assertEqual(len(self.check(source("int find(int key, bool is_new) { return 0; }"), source("int find(int k, bool = true) { return 1; }"))), 1)

    def test_finds_types_variables_and_functions_of_one_name(self):
        for a in ("struct Row {\n  int count = 0;\n};", "enum class Row { one, two };", "using Row = int;", "int Row = 1 << 20;", "void (*Row)() = nullptr;"):
            for b in ("class Row : Base {\n  void f() {}\n};", "constexpr std::size_t Row = std::size_t{1} << 20;", "int Row(int i) { return i; }", "int Row[] = {1, 2};"):
                with self.subTest(a=a, b=b):
                    self.assertEqual(len(self.check(source(a), source(b))), 1)

    def test_accepts_aliases_of_one_type(self):
        self.assertEqual(self.check(source("using Words = std::vector<int>;"), source("using Words = std::vector<int>;")), [])
        self.assertEqual(len(self.check(source("using Words = std::vector<int>;"), source("using Words = std::vector<long>;"))), 1)

    def test_accepts_members_locals_declarations_comments_and_texts(self):
        lines = ("struct A {", "  int count() const;", "};", "struct B;", "int once();", "// int two() {}", "int three() {", "  static int count = 1;", "  return count;", "}")
        others = ("struct C {", "  int count() const;", "};", "struct B;", "int once();", "// int two() {}", 'const char* four = "int two() {";', "int A::count() const { return 0; }")
        self.assertEqual(self.check(source(*lines), source(*others)), [])

    def test_finds_static_functions_outside_anonymous_namespaces(self):
        text = "namespace sorrel {\nstatic int one(int i) {\n  return i;\n}\n}\n"
        self.assertEqual(len(self.check(text, text)), 1)

    def test_namespaces_are_apart(self):
        self.assertEqual(self.check(source("int one = 1;"), source("int one = 1;").replace("::room", "::hall")), [])

    def test_public_names_are_not_looked_at(self):
        self.assertEqual(self.check("namespace sorrel {\nint one() { return 1; }\n}\n", "namespace sorrel {\nint one() { return 1; }\n}\n"), [])

    def test_folders_are_compiled_apart(self):
        self.write("src/hall/a.cpp", source("int one = 1;"))
        self.assertEqual(self.check(source("int two = 2;"), source("int one = 1;")), [])

    def test_what_is_compiled_alone_may_clash(self):
        text = source("int one = 1;")
        self.assertEqual(len(self.check(text, text, "src/alone")), 1)
        self.write("src/CMakeLists.txt", "set(SORREL_ALONE base alone)\nset_source_files_properties(room/b.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)\n")
        self.assertEqual(self.check(text, text), [])

    def test_lists_of_sources_in_variables_are_read(self):
        text = source("int one = 1;")
        self.write("src/CMakeLists.txt", "set(some room/b)\nset_source_files_properties(${some} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)\n")
        self.assertEqual(self.check(text, text), [])
