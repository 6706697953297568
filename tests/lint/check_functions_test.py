"""Each test plants one function in a small tree; the check must count its lines and its complexity as clang-tidy does."""

import check_functions
from planted_tree import PlantedTree

LIMITS = "  readability-function-size.LineThreshold: 70\n  readability-function-cognitive-complexity.Threshold: 25\n"


class Tree(PlantedTree):
    def setUp(self):
        super().setUp()
        self.write(".clang-tidy", "CheckOptions:\n" + LIMITS)

    def functions_of(self, text):
        self.write("src/room/a.cpp", text)
        return check_functions.functions_below(self.root)

    def complexity_of(self, body):
        (function,) = self.functions_of(f"int f(int a, int b) {{\n{body}\n}}\n")
        return function.complexity

    def test_finds_functions_of_every_form(self):
        text = """
namespace room {
struct Row {
  int count = 0;
};
constexpr Row rows[] = {{1}, {2}};
class alignas(64) Hall : public House<3> {
 public:
  explicit Hall(int count) : count_{count}, rows_(count) { open(); }
  ~Hall() override = default;
  [[nodiscard]] int count() const noexcept { return count_; }
  template <class T>
  auto operator()(T&& visit) const -> decltype(visit(0)) {
    return visit(count_);
  }
  int count_{0};
};
}  // namespace room
extern "C" int sorrel_f(void) { return 0; }
SORREL_WEAK(MPI_F)
enum class Kind : std::uint8_t { one, two };
"""
        names = [function.name for function in self.functions_of(text)]
        self.assertEqual(len(names), 4)
        self.assertEqual([names[0], names[1], names[3]], ["Hall", "count", "sorrel_f"])

    def test_a_branch_costs_more_inside_of_another(self):
        self.assertEqual(self.complexity_of("return 0;"), 0)
        self.assertEqual(self.complexity_of("if (a) return 1;\nif (b) return 2;\nreturn 0;"), 2)
        self.assertEqual(self.complexity_of("if (a) {\n  if (b) return 1;\n}\nreturn 0;"), 3)
        self.assertEqual(self.complexity_of("for (;;) {\n  while (a)\n    if (b) return 1;\n}"), 6)
        self.assertEqual(self.complexity_of("do {\n  if (a) return 1;\n} while (b);\nreturn 0;"), 3)
        self.assertEqual(self.complexity_of("switch (a) {\n  case 1:\n    if (b) return 1;\n  default:\n    break;\n}"), 3)
        self.assertEqual(self.complexity_of("try {\n  g();\n} catch (...) {\n  if (a) h();\n}\nreturn 0;"), 3)

    def test_else_costs_one_whatever_is_around_it(self):
        self.assertEqual(self.complexity_of("if (a) {\n  g();\n} else if (b) {\n  h();\n} else {\n  k();\n}"), 3)
        self.assertEqual(self.complexity_of("for (;;) {\n  if (a) {\n    g();\n  } else {\n    h();\n  }\n}"), 4)

    def test_lambdas_nest_and_initialisers_do_not(self):
        self.assertEqual(self.complexity_of("const auto g = [&](int c) -> int { return c ? 1 : 2; };\nreturn g(a);"), 2)
        self.assertEqual(self.complexity_of("run([=] {\n  if (a) g();\n});"), 2)
        self.assertEqual(self.complexity_of("const Row row{a ? 1 : 2, {b}};"), 1)
        self.assertEqual(self.complexity_of("rows[a] = {b ? 1 : 2};"), 1)

    def test_counts_sequences_of_like_operators(self):
        self.assertEqual(self.complexity_of("return a && b && c;"), 1)
        self.assertEqual(self.complexity_of("return a || b && c || d;"), 2)
        self.assertEqual(self.complexity_of("return a && b || c && d;"), 3)
        self.assertEqual(self.complexity_of("g(a && b, c && d);"), 2)
        self.assertEqual(self.complexity_of("auto&& c = g([](int&& d) { return d; });"), 0)

    def test_a_check_of_an_invariant_is_no_branch(self):
        self.assertEqual(self.complexity_of('SORREL_ASSERT(a > 0 && (b ? a : b) > 0, "%d", a);\nreturn a;'), 0)

    def test_comments_texts_and_preprocessor_lines_do_not_count(self):
        self.assertEqual(self.complexity_of('// if (a) {\n/* for (;;) { */\n#if A && B\ng("if (a) {", \'{\', R"(while {)");\n#endif'), 0)

    def test_reports_what_is_beyond_the_limits(self):
        self.assertEqual(self.functions_of("void f() {\n" + "g();\n" * 68 + "}\n")[0].lines, 70)
        self.assertEqual(check_functions.check(self.root), [])
        self.write("tools/b.hpp", "void f() {\n" + "g();\n" * 69 + "}\n")
        self.write("tools/c.hpp", "void h() {\n" + "  if (a) return;\n" * 26 + "}\n")
        self.assertEqual(
            check_functions.check(self.root),
            [
                "tools/b.hpp:1: f() has 71 lines, at most 70 are allowed",
                "tools/c.hpp:1: h() has complexity 26, at most 25 is allowed",
            ],
        )
