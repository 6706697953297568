// The mailbox at tiny capacities: wrap-around, full, inline and ring payload.
#include <cstring>

#include "core/mailbox.hpp"
#include "model/model_sync.hpp"  // Must stay last: Relacy's macros.

namespace sorrel::model {

namespace {

constexpr std::uint32_t record_count = 4;
// Inline; 48 bytes of the ring; 32, which do not fit before its end; inline again.
constexpr std::array<std::uint32_t, record_count> payload_bytes = {8, 48, 32, 28};
constexpr std::uint32_t payload_bytes_longest = 48;

std::byte content_of(std::uint32_t index) {
  return static_cast<std::byte>(0x11 * (index + 1));
}

/// Sends every record unless the mailbox is full, takes what it sees, then the rest.
template <Weakened weakened>
struct MailboxModel : rl::test_suite<MailboxModel<weakened>, 2> {
  core::BasicMailbox<ModelSync<weakened>, 2, 64, 28> mailbox;
  std::uint32_t sent_count = 0;
  std::uint32_t taken_count = 0;

  void thread(unsigned index) {
    if (index == 0) {
      for (std::uint32_t tries = 0; tries < 6 && sent_count < record_count; ++tries)
        send_next();
    } else {
      for (std::uint32_t tries = 0; tries < 5; ++tries)
        take();
    }
  }

  void after() {
    while (take()) {
    }
    RL_ASSERT(taken_count == sent_count);
  }

  void send_next() {
    std::array<std::byte, payload_bytes_longest> payload;
    payload.fill(content_of(sent_count));
    const core::Record record{.words = {sent_count}, .payload_bytes = payload_bytes[sent_count]};
    if (mailbox.try_post(record, payload.data())) {
      ++sent_count;
    } else {
      // A full mailbox holds two records or an unread ring payload.
      RL_ASSERT(sent_count >= 2);
    }
  }

  /// As in a stream, where the consumer writes to the slot, too.
  bool take() {
    return mailbox.take(
        [this](const core::Record& record, const std::byte* payload) {
          RL_ASSERT(record.words[0] == taken_count);
          RL_ASSERT(record.payload_bytes == payload_bytes[taken_count]);
          for (std::uint32_t i = 0; i < record.payload_bytes; ++i)
            RL_ASSERT(payload[i] == content_of(taken_count));
          ++taken_count;
        },
        core::Flow::stream);
  }
};

template <Cell cell, Order order>
using WithRelaxed = MailboxModel<Weakened{.cell = cell, .order = order}>;

}  // namespace

}  // namespace sorrel::model

int main() {
  using namespace sorrel::model;
  Checker checker(6);
  checker.must_hold<MailboxModel<Weakened{}>>("mailbox");
  checker.must_be_caught<WithRelaxed<Cell::u32, Order::release>>("mailbox, (P) publish relaxed");
  checker.must_be_caught<WithRelaxed<Cell::u32, Order::acquire>>("mailbox, (T) take relaxed");
  checker.must_be_caught<WithRelaxed<Cell::u64, Order::release>>("mailbox, (F) free relaxed");
  checker.must_be_caught<WithRelaxed<Cell::u64, Order::acquire>>("mailbox, (R) reuse relaxed");
  return checker.status();
}
