#include "tools/sorrel/cc/irix_directives.hpp"

#include <gtest/gtest.h>
#include <sstream>

namespace sorrel::tool {
namespace {

int line_of_first(const std::string& text) {
  std::istringstream stream(text);
  const auto found = first_irix_directive(stream);
  return found ? found->line : 0;
}

TEST(IrixDirectives, AreCommentsThatBeginInColumnOne) {
  EXPECT_EQ(line_of_first("      x = 1\nC$DOACROSS LOCAL(I), SHARE(A)\n"), 2);
  EXPECT_EQ(line_of_first("c$doacross\n"), 1);
  EXPECT_EQ(line_of_first("*$PAR PARALLEL\n"), 1);
  EXPECT_EQ(line_of_first("!$Par pdo\r\n"), 1);
}

TEST(IrixDirectives, OtherCommentsAndSentinelsOfOpenmpAreNone) {
  EXPECT_EQ(line_of_first(""), 0);
  EXPECT_EQ(line_of_first("!$OMP PARALLEL DO\n!$parallel_do\nC$DOACROSSING\n"), 0);
  EXPECT_EQ(line_of_first(" C$DOACROSS\nC the directive C$DOACROSS\n"), 0);
}

TEST(IrixDirectives, AreSoughtInSourcesOfFortran) {
  EXPECT_TRUE(is_fortran_source("a.b/heat.F"));
  EXPECT_TRUE(is_fortran_source("heat.f90"));
  EXPECT_FALSE(is_fortran_source("heat.o"));
  EXPECT_FALSE(is_fortran_source("heat"));
  const std::string words[] = {"-c", "heat.c", "absent.f"};
  EXPECT_FALSE(first_irix_directive(words));
}

}  // namespace
}  // namespace sorrel::tool
