// The queue of all senders that measuring builds may select: two senders, wrap-around and full.
#include <cstring>

#include "core/study/shared_mailbox.hpp"
#include "model/model_sync.hpp"  // Must stay last: Relacy's macros.

namespace sorrel::model {

namespace {

constexpr std::uint32_t sender_count = 2;
// Together one more than the queue holds.
constexpr std::array<std::uint32_t, sender_count> record_counts = {2, 1};
constexpr std::uint32_t record_count_max = 2;
constexpr std::uint32_t payload_bytes = 8;

std::byte content_of(std::uint32_t sender, std::uint32_t index) {
  return static_cast<std::byte>(0x11 * (1 + sender * record_count_max + index));
}

/// Each sender sends its records unless the queue is full; the receiver takes what it sees, then
/// the rest.
template <Weakened weakened>
struct SharedMailboxModel : rl::test_suite<SharedMailboxModel<weakened>, sender_count + 1> {
  core::study::SharedMailbox<ModelSync<weakened>, 2, payload_bytes> queue;
  std::array<std::uint32_t, sender_count> sent_count{};
  std::array<std::uint32_t, sender_count> taken_count{};

  void thread(unsigned index) {
    if (index < sender_count) {
      for (std::uint32_t tries = 0; tries < record_counts[index]; ++tries)
        send_next(index);
    } else {
      for (std::uint32_t tries = 0; tries < 2; ++tries)
        take();
    }
  }

  void after() {
    while (take()) {
    }
    RL_ASSERT(taken_count == sent_count);
  }

  void send_next(std::uint32_t sender) {
    std::array<std::byte, payload_bytes> payload;
    payload.fill(content_of(sender, sent_count[sender]));
    const core::Record record{.words = {sender, sent_count[sender]},
                              .payload_bytes = payload_bytes};
    if (queue.try_post(record, payload.data())) ++sent_count[sender];
  }

  bool take() {
    return queue.take([this](const core::Record& record, const std::byte* payload) {
      const std::uint32_t sender = record.words[0];
      RL_ASSERT(record.words[1] == taken_count[sender]);
      for (std::uint32_t i = 0; i < record.payload_bytes; ++i)
        RL_ASSERT(payload[i] == content_of(sender, taken_count[sender]));
      ++taken_count[sender];
    });
  }
};

template <Cell cell, Order order>
using WithRelaxed = SharedMailboxModel<Weakened{.cell = cell, .order = order}>;

}  // namespace

}  // namespace sorrel::model

int main() {
  using namespace sorrel::model;
  Checker checker(3);
  checker.must_hold<SharedMailboxModel<Weakened{}>>("shared mailbox");
  checker.must_be_caught<WithRelaxed<Cell::u32, Order::release>>("shared mailbox, (P) relaxed");
  checker.must_be_caught<WithRelaxed<Cell::u32, Order::acquire>>("shared mailbox, (T) relaxed");
  checker.must_be_caught<WithRelaxed<Cell::u64, Order::release>>("shared mailbox, (F) relaxed");
  checker.must_be_caught<WithRelaxed<Cell::u64, Order::acquire>>("shared mailbox, (R) relaxed");
  return checker.status();
}
