// The messages of a graph, seen by its runner: all of this is the owner's but hand_over().
#include <chrono>

#include "base/check.hpp"
#include "graph/run/runner.hpp"

namespace sorrel::graph {

void Runner::hand_over(int channel, Index step) {
  const auto number = static_cast<std::uint32_t>(channel);
  // Read by the owner, ordered by the list.
  channel_steps_[number] = step;
  outbox_.push(number, outbox_links_[number]);
}

void Runner::start(int channel, Index step) {
  channel_steps_[static_cast<std::size_t>(channel)] = step;
  ++messages_under_way_;
  messenger_->start(channel);
}

/// Starts what helpers have made ready, and goes on from what has ended. Whether there are
/// messages.
bool Runner::look_after_messages() {
  if (messenger_ == nullptr) return false;
  if (!outbox_.seems_empty()) {
    outbox_.take_all([this](std::uint32_t i) -> auto& { return outbox_links_[i]; },
                     [this](std::uint32_t channel) {
                       ++messages_under_way_;
                       messenger_->start(static_cast<int>(channel));
                     });
  }
  if (messages_under_way_ != 0) finish_messages(messenger_->poll(ended_channels_));
  return messages_under_way_ != 0;
}

void Runner::wait_for_message() {
  if (!is_quiescent()) return;
  SORREL_CHECK(messages_under_way_ != 0, "a graph has nothing to do and is not done");
  const auto began = std::chrono::steady_clock::now();
  const int count = messenger_->wait(ended_channels_);
  waiting_seconds_ +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  finish_messages(count);
}

void Runner::finish_messages(int count) {
  Lane& own = *lanes_[0];
  for (int i = 0; i < count; ++i) {
    --messages_under_way_;
    Ready next;
    if (finish(own, message_of(ended_channels_[static_cast<std::size_t>(i)]), next))
      push(own, next);
  }
}

Ready Runner::message_of(int channel) const {
  for (std::size_t f = 0; f < compiled_.family_count(); ++f) {
    CompiledFamily& family = compiled_.family(f);
    const int place = channel - family.first_channel;
    if (family.kind == FamilyKind::task || place < 0 ||
        place >= 2 * static_cast<int>(family.task_count))
      continue;
    return {{family.space.key_at(place / 2), channel_steps_[static_cast<std::size_t>(channel)]},
            &family,
            place / 2};
  }
  SORREL_CHECK(false, "no channel %d", channel);
}

}  // namespace sorrel::graph
