#include "transport/host/host_header.hpp"

#include <gtest/gtest.h>

namespace sorrel::transport {
namespace {

/// Its length, if it comes back as it was.
std::size_t length_of(const HostHeader& header) {
  std::array<std::byte, host_header_bytes_max> bytes;
  const std::size_t written = write_header(header, bytes.data());
  HostHeader came;
  EXPECT_EQ(read_header(bytes.data(), came), written);
  EXPECT_EQ(came, header);
  return written;
}

TEST(HostHeaderTest, SmallNumbersTakeEightBytesAndAnyNumberComesBack) {
  const HostHeader small{
      .kind = 63, .credits = 255, .from_worker = 1, .to_worker = 2, .words = {3, 4, 5, 255}};
  EXPECT_EQ(length_of(small), 8U);
  HostHeader middling = small;
  middling.words[2] = 256;
  EXPECT_EQ(length_of(middling), 16U);
  middling.from_worker = 65535;
  EXPECT_EQ(length_of(middling), 16U);
  HostHeader large = small;
  large.words = {0xffffffff, 0, 65536, 0x80000000};
  EXPECT_EQ(length_of(large), 32U);
}

}  // namespace
}  // namespace sorrel::transport
