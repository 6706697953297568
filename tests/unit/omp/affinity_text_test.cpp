#include "omp/icv/affinity_text.hpp"

#include <gtest/gtest.h>

namespace sorrel::omp {
namespace {

const AffinityFields fields{.level = 2,
                            .thread_number = 3,
                            .thread_count = 4,
                            .ancestor = 1,
                            .host = "here",
                            .process = 12,
                            .native_thread = 34,
                            .cpus = "0-1"};

TEST(AffinityText, replaces_letters_and_names) {
  EXPECT_EQ(format_affinity("L%L n%n/%N a%a %H %P %i %A %%", fields),
            "L2 n3/4 a1 here 12 34 0-1 %");
  EXPECT_EQ(format_affinity("%{thread_num} of %{num_threads}", fields), "3 of 4");
}

TEST(AffinityText, pads_to_a_width) {
  EXPECT_EQ(format_affinity("[%5n][%.5n][%0.5n]", fields), "[3    ][    3][00003]");
  EXPECT_EQ(format_affinity("[%05n][%06H]", fields),
            "[3    ][" + format_affinity("%6H", fields) + "]");
  AffinityFields initial = fields;
  initial.ancestor = -1;
  EXPECT_EQ(format_affinity("[%5a][%.5a][%0.5a][%0.2a]", initial), "[-1   ][   -1][-0001][-1]");
}

TEST(AffinityText, an_unknown_field_is_undefined) {
  EXPECT_EQ(format_affinity("%z %{what}", fields), "undefined undefined");
  EXPECT_EQ(format_affinity("%", fields), "undefined");
}

TEST(AffinityText, copies_what_fits_and_tells_the_length) {
  char buffer[4];
  EXPECT_EQ(copy_text("abcdef", buffer, sizeof buffer), 6U);
  EXPECT_STREQ(buffer, "abc");
  EXPECT_EQ(copy_text("abcdef", nullptr, 0), 6U);
}

}  // namespace
}  // namespace sorrel::omp
