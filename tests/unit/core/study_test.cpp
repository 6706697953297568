// What a measuring build takes back of the message layer (core/study).
#include <gtest/gtest.h>
#include <memory>
#include <thread>
#include <vector>

#include "core/study/locked_mailbox.hpp"
#include "core/study/shared_mailbox.hpp"
#include "core/study/steps.hpp"

namespace sorrel::core::study {
namespace {

TEST(StudyStepsTest, AListSetsEachOnce) {
  EXPECT_EQ(parse_steps(""), Steps{});
  EXPECT_EQ(parse_steps("queue=locked"), (Steps{.queue = Queue::locked}));
  EXPECT_EQ(parse_steps("counters=packed,heap=system,queue=shared"),
            (Steps{.queue = Queue::shared, .heap = Heap::system, .counters = Counters::packed}));
  EXPECT_EQ(parse_steps("heap=locked,counters=apart,queue=relaxed"),
            (Steps{.queue = Queue::relaxed, .heap = Heap::locked}));
}

TEST(StudyStepsTest, AnythingElseIsAnError) {
  for (const char* text : {"queue", "queue=", "queue=lock", "queue=own,queue=own", "heap=pool;",
                           " heap=pool", "heap=pool,,counters=apart", ",", "steps=all"})
    EXPECT_EQ(parse_steps(text), std::nullopt) << text;
}

template <class Queue>
class ManySendersTest : public testing::Test {};

using Kinds = testing::Types<SharedMailbox<StdSync, 8>,
                             LockedMailbox<EmptyCheck::without_lock>,
                             LockedMailbox<EmptyCheck::under_lock>>;
TYPED_TEST_SUITE(ManySendersTest, Kinds);

TYPED_TEST(ManySendersTest, EachSendersRecordsArriveWholeAndInOrder) {
  constexpr std::uint32_t sender_count = 4;
  constexpr std::uint32_t record_count = 3000;
  auto queue = std::make_unique<TypeParam>();
  std::vector<std::thread> senders;
  for (std::uint32_t sender = 0; sender < sender_count; ++sender) {
    senders.emplace_back([&, sender] {
      for (std::uint32_t i = 0; i < record_count; ++i) {
        const std::vector<std::byte> payload(i % 600, static_cast<std::byte>(sender + i));
        const Record record{.words = {sender, i},
                            .payload_bytes = static_cast<std::uint32_t>(payload.size())};
        while (!queue->try_post(record, payload.data()))
          std::this_thread::yield();
      }
    });
  }
  std::vector<std::uint32_t> next(sender_count);
  for (std::uint32_t taken = 0; taken < sender_count * record_count;) {
    const bool has_taken = queue->take([&](const Record& record, const std::byte* payload) {
      const std::uint32_t sender = record.words[0];
      const std::uint32_t i = record.words[1];
      ASSERT_LT(sender, sender_count);
      ASSERT_EQ(i, next[sender]);
      ASSERT_EQ(record.payload_bytes, i % 600);
      for (std::uint32_t k = 0; k < record.payload_bytes; ++k)
        ASSERT_EQ(payload[k], static_cast<std::byte>(sender + i));
      ++next[sender];
    });
    if (has_taken) {
      ++taken;
    } else {
      std::this_thread::yield();
    }
    if (this->HasFatalFailure()) break;
  }
  for (std::thread& sender : senders)
    sender.join();
  EXPECT_FALSE(queue->has_record());
}

TEST(SharedMailboxTest, IsFullUntilARecordIsTakenAndRefusesLongPayloads) {
  SharedMailbox<StdSync, 2, 16> queue;
  const std::vector<std::byte> payload(17);
  const auto post = [&](std::uint32_t bytes) {
    return queue.try_post({.payload_bytes = bytes}, payload.data());
  };
  EXPECT_FALSE(post(17));
  EXPECT_TRUE(post(16));
  EXPECT_TRUE(post(0));
  EXPECT_FALSE(post(0));
  EXPECT_TRUE(queue.take(
      [](const Record& record, const std::byte*) { EXPECT_EQ(record.payload_bytes, 16U); }));
  EXPECT_TRUE(post(1));
}

}  // namespace
}  // namespace sorrel::core::study
