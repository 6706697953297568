#include "tools/sorrel/docs/manual.hpp"

#include <gtest/gtest.h>

namespace sorrel::tool {
namespace {

const std::vector<ManualPage> manual = {{"howto/memory", "Memory of ranks", ""},
                                        {"reference/memory", "Memory", ""},
                                        {"waits", "Ranks that wait", ""}};

std::vector<std::string> names(const std::string& topic) {
  std::vector<std::string> found;
  for (const ManualPage& page : pages_of(manual, topic))
    found.push_back(page.name);
  return found;
}

TEST(ManualTest, ATopicIsAPageAsMessagesNameIt) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(names("waits"), Names{"waits"});
  EXPECT_EQ(names("docs/waits.md#polling"), Names{"waits"});
  EXPECT_EQ(names("Howto/Memory"), Names{"howto/memory"});
  EXPECT_EQ(names("memory"), (Names{"howto/memory", "reference/memory"}));
  EXPECT_EQ(names("ory"), Names{});
  EXPECT_EQ(names("#x"), Names{});
}

TEST(ManualTest, CommentsAndListsOfWebPagesAreLeftOut) {
  EXPECT_EQ(readable_text("a\n<!-- run -->\n```{toctree}\nx\n```\nb\n"), "a\nb\n");
  EXPECT_EQ(readable_text("a <!-- without end"), "a <!-- without end");
}

TEST(ManualTest, AFolderThatIsMissingHasNoPages) {
  EXPECT_TRUE(read_manual("/no/such/folder").empty());
}

}  // namespace
}  // namespace sorrel::tool
