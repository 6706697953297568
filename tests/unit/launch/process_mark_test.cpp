#include "launch/process_mark.hpp"

#include <gtest/gtest.h>
#include <string>

namespace sorrel::launch {
namespace {

std::string text_of(const ProcessMark& mark) {
  const auto text = encode(mark);
  return {text.data(), text.size()};
}

TEST(ProcessMark, reads_what_it_has_written) {
  for (const ProcessMark& mark :
       {ProcessMark{}, ProcessMark{.process = 4711, .handler = RequestHandler::library},
        ProcessMark{.process = 4194304, .thread = 17, .handler = RequestHandler::program}}) {
    EXPECT_EQ(decode_mark(text_of(mark)), mark);
  }
  EXPECT_EQ(text_of({}), "0000000000000000-");
}

TEST(ProcessMark, rejects_other_texts) {
  for (const std::string text : {"", "0000000000000000", "0000000000000000x", "000000000000000x-",
                                 "0000000000000000--", "x000000000000000l"})
    EXPECT_FALSE(decode_mark(text)) << text;
}

}  // namespace
}  // namespace sorrel::launch
