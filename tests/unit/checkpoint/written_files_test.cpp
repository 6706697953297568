#include "checkpoint/written_files.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "unit/base/temporary_folder.hpp"

namespace sorrel::checkpoint {
namespace {

TEST(WrittenFiles, AreReadAsTheyWereAdded) {
  const std::vector<WrittenFile> files = {{.path = "/a b/c", .bytes = 7},
                                          {.path = "/", .bytes = std::int64_t{1} << 40}};
  ByteWriter record;
  for (const WrittenFile& file : files)
    add(file, record);
  EXPECT_EQ(written_files_in(record.bytes()), files);
  EXPECT_EQ(written_files_in(record.bytes().substr(0, record.bytes().size() - 1)).size(), 1U);
  EXPECT_TRUE(written_files_in("").empty());
}

TEST(WrittenFiles, LongerOnesAreCutAndOthersStay) {
  const TemporaryFolder folder;
  const std::string longer = folder.path() + "/longer";
  const std::string shorter = folder.path() + "/shorter";
  for (const std::string& path : {longer, shorter})
    std::ofstream(path) << "0123456789";
  const CutFiles cut = cut_files({{.path = shorter, .bytes = 10},
                                  {.path = longer, .bytes = 4},
                                  {.path = longer, .bytes = 4},
                                  {.path = folder.path() + "/absent", .bytes = 0},
                                  {.path = shorter, .bytes = 20}});
  EXPECT_EQ(cut.error, "");
  EXPECT_EQ(cut.count, 1U);
  EXPECT_EQ(cut.path, longer);
  EXPECT_EQ(std::filesystem::file_size(longer), 4U);
  EXPECT_EQ(std::filesystem::file_size(shorter), 10U);
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/absent"));
}

}  // namespace
}  // namespace sorrel::checkpoint
