#include "report/finding_line.hpp"

#include <gtest/gtest.h>

namespace sorrel::report {
namespace {

std::optional<FindingLine> parse_whole(const std::string& text) {
  EXPECT_TRUE(text.ends_with('\n'));
  return parse_finding_line(std::string_view(text).substr(0, text.size() - 1));
}

TEST(FindingLineTest, IsReadAsItWasWritten) {
  const FindingLine line{.kind = "leak",
                         .rank = -3,
                         .call = "MPI_Isend",
                         .path = "/home/user/heat",
                         .offset = ~std::uint64_t{0},
                         .script = "",
                         .text = "the request is never completed"};
  const std::string text = finding_line_text(line);
  const std::optional<FindingLine> read = parse_whole(text);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->kind, line.kind);
  EXPECT_EQ(read->rank, line.rank);
  EXPECT_EQ(read->call, line.call);
  EXPECT_EQ(read->path, line.path);
  EXPECT_EQ(read->offset, line.offset);
  EXPECT_EQ(read->script, line.script);
  EXPECT_EQ(read->text, line.text);
}

TEST(FindingLineTest, StaysOneLineOfSevenFields) {
  const std::string text = finding_line_text({.kind = related_call_kind,
                                              .call = "MPI_Recv",
                                              .path = "a\tb",
                                              .script = "f\n(g.py:1)",
                                              .text = "two\nlines\tand a tab"});
  const std::optional<FindingLine> read = parse_whole(text);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->path, "a b");
  EXPECT_EQ(read->script, "f (g.py:1)");
  EXPECT_EQ(read->text, "two lines and a tab");
}

TEST(FindingLineTest, RefusesDamagedLines) {
  EXPECT_TRUE(parse_finding_line("leak\t0\tMPI_Isend\t\t0\t\t"));
  for (const char* text : {"", "leak", "leak\t0\tMPI_Isend\t\t0\t", "leak\t0\tMPI_Isend\t\t0\t\t\t",
                           "leak\tx\tMPI_Isend\t\t0\t\t", "leak\t0\tMPI_Isend\t\t-1\t\t",
                           "leak\t0 \tMPI_Isend\t\t0\t\t", "leak\t\tMPI_Isend\t\t0\t\t"})
    EXPECT_FALSE(parse_finding_line(text)) << text;
}

}  // namespace
}  // namespace sorrel::report
