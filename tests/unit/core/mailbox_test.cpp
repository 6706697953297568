#include "core/mailbox.hpp"

#include <deque>
#include <gtest/gtest.h>
#include <memory>
#include <thread>
#include <vector>

#include "base/prng.hpp"
#include "unit/core/fiber_run.hpp"

namespace sorrel::core {
namespace {

using Bytes = std::vector<std::byte>;

/// A payload whose content follows from its number.
Bytes payload_of(std::uint32_t number, std::size_t bytes) {
  Prng prng(number);
  Bytes payload(bytes);
  for (std::byte& byte : payload)
    byte = static_cast<std::byte>(prng.next());
  return payload;
}

template <class Box>
bool post(Box& mailbox, std::uint32_t number, std::size_t bytes) {
  const Record record{.words = {number, ~number, 3, 4},
                      .payload_bytes = static_cast<std::uint32_t>(bytes)};
  return mailbox.try_post(record, payload_of(number, bytes).data());
}

/// Takes one record and expects it to be this one.
template <class Box>
bool take(Box& mailbox, std::uint32_t number, std::size_t bytes) {
  return mailbox.take([&](const Record& record, const std::byte* payload) {
    EXPECT_EQ(record.words, (std::array<std::uint32_t, 4>{number, ~number, 3, 4}));
    ASSERT_EQ(record.payload_bytes, bytes);
    EXPECT_EQ(Bytes(payload, payload + bytes), payload_of(number, bytes));
  });
}

TEST(MailboxTest, AnEmptyOneHasNothing) {
  auto mailbox = std::make_unique<Mailbox>();
  EXPECT_FALSE(mailbox->has_record());
  EXPECT_FALSE(mailbox->take([](const Record&, const std::byte*) { FAIL(); }));
}

TEST(MailboxTest, KeepsTheOrderOfItsSender) {
  auto mailbox = std::make_unique<Mailbox>();
  for (std::uint32_t i = 0; i < 100; ++i)
    ASSERT_TRUE(post(*mailbox, i, i));
  for (std::uint32_t i = 0; i < 100; ++i) {
    EXPECT_TRUE(mailbox->has_record());
    ASSERT_TRUE(take(*mailbox, i, i));
  }
  EXPECT_FALSE(mailbox->has_record());
}

TEST(MailboxTest, CarriesEveryPayloadSizeUpToItsMaximum) {
  auto mailbox = std::make_unique<Mailbox>();
  for (std::uint32_t bytes = 0; bytes <= Mailbox::payload_bytes_max; ++bytes) {
    ASSERT_TRUE(post(*mailbox, bytes, bytes));
    ASSERT_TRUE(take(*mailbox, bytes, bytes));
  }
}

TEST(MailboxTest, SaysWhenItsSlotsAreFullAndGoesOnAfterwards) {
  BasicMailbox<StdSync, 4, 64> mailbox;
  for (std::uint32_t i = 0; i < 4; ++i)
    ASSERT_TRUE(post(mailbox, i, 8));
  EXPECT_FALSE(post(mailbox, 4, 8));
  ASSERT_TRUE(take(mailbox, 0, 8));
  ASSERT_TRUE(post(mailbox, 4, 8));
  EXPECT_FALSE(post(mailbox, 5, 8));
  for (std::uint32_t i = 1; i < 5; ++i)
    ASSERT_TRUE(take(mailbox, i, 8));
}

TEST(MailboxTest, SaysWhenItsPayloadRingIsFullThoughSlotsAreFree) {
  BasicMailbox<StdSync, 16, 256, 28> mailbox;
  for (std::uint32_t i = 0; i < 4; ++i)
    ASSERT_TRUE(post(mailbox, i, 64));
  EXPECT_FALSE(post(mailbox, 4, 64));
  EXPECT_TRUE(post(mailbox, 4, 8)) << "an inline payload needs no ring";
  ASSERT_TRUE(take(mailbox, 0, 64));
  EXPECT_TRUE(post(mailbox, 5, 64));
}

TEST(MailboxTest, APayloadThatDoesNotFitBeforeTheEndStartsAtTheBeginning) {
  BasicMailbox<StdSync, 16, 256, 28> mailbox;
  ASSERT_TRUE(post(mailbox, 0, 64));
  ASSERT_TRUE(post(mailbox, 1, 64));
  ASSERT_TRUE(post(mailbox, 2, 64));
  ASSERT_TRUE(post(mailbox, 3, 40));
  for (std::uint32_t i = 0; i < 3; ++i)
    ASSERT_TRUE(take(mailbox, i, 64));
  // 16 bytes are left before the end.
  ASSERT_TRUE(post(mailbox, 4, 64));
  ASSERT_TRUE(take(mailbox, 3, 40));
  ASSERT_TRUE(take(mailbox, 4, 64));
}

TEST(MailboxTest, ARecordWithoutAPayloadPointerMovesNothing) {
  auto mailbox = std::make_unique<Mailbox>();
  ASSERT_TRUE(mailbox->try_post({.words = {1}, .payload_bytes = 8}, nullptr));
  ASSERT_TRUE(mailbox->try_post({.words = {2}, .payload_bytes = 100}, nullptr));
  for (std::uint32_t i = 1; i <= 2; ++i)
    EXPECT_TRUE(mailbox->take(
        [i](const Record& record, const std::byte*) { EXPECT_EQ(record.words[0], i); }));
}

TEST(MailboxTest, AgreesWithAQueueWhateverComes) {
  struct Sent {
    std::uint32_t number;
    std::size_t bytes;
  };

  Prng prng(test_seed());
  BasicMailbox<StdSync, 8, 1024> mailbox;
  std::deque<Sent> queue;
  std::uint32_t number = 0;
  for (int step = 0; step < 20'000; ++step) {
    if (prng.below(2) == 0) {
      const auto bytes = static_cast<std::size_t>(prng.below(prng.below(2) == 0 ? 40 : 257));
      if (post(mailbox, number, bytes))
        queue.push_back({number++, bytes});
      else
        ASSERT_FALSE(queue.empty()) << "an empty mailbox has room for any payload";
    } else if (queue.empty()) {
      ASSERT_FALSE(mailbox.has_record());
    } else {
      ASSERT_TRUE(take(mailbox, queue.front().number, queue.front().bytes));
      queue.pop_front();
    }
    ASSERT_LE(queue.size(), 8U);
  }
}

TEST(MailboxTest, TwoThreadsAgreeOnEveryRecord) {
  constexpr std::uint32_t record_count = 50'000;
  const auto bytes_of = [](std::uint32_t number) {
    return static_cast<std::size_t>(number * 7919 % 200);
  };
  auto mailbox = std::make_unique<Mailbox>();
  std::thread sender([&] {
    for (std::uint32_t i = 0; i < record_count; ++i) {
      while (!post(*mailbox, i, bytes_of(i)))
        std::this_thread::yield();
    }
  });
  for (std::uint32_t i = 0; i < record_count; ++i) {
    while (!take(*mailbox, i, bytes_of(i)))
      std::this_thread::yield();
  }
  sender.join();
  EXPECT_FALSE(mailbox->has_record());
}

}  // namespace
}  // namespace sorrel::core
