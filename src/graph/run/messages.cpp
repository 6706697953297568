// The messages of a graph's runner: the owner only, except enqueue_message().
#include <algorithm>
#include <chrono>
#include <string>

#include "base/check.hpp"
#include "base/text.hpp"
#include "graph/run/runner.hpp"
#include "sorrel.h"

namespace sorrel::graph {

void Runner::enqueue_message(int channel, Index step) {
  const auto number = static_cast<std::uint32_t>(channel);
  // Read by the owner, ordered by the list.
  channel_steps_[number] = step;
  outbox_.push(number, outbox_links_[number]);
}

void Runner::start(int channel, Index step) {
  channel_steps_[static_cast<std::size_t>(channel)] = step;
  start(channel);
}

/// Starts the message whose step is set.
void Runner::start(int channel) {
  ++messages_in_progress_;
  is_awaited(message_of(channel)) ? messenger_->start(channel)
                                  : messenger_->start_unawaited(channel);
}

/// Whether a task or a later step waits for the end of a message.
bool Runner::is_awaited(const Ready& message) const {
  const CompiledFamily& family = *message.family;
  return message.task.step + 1 < steps_ || !family.wide_in_step.empty() ||
         !family.region_of(message.task.key).in_step.empty();
}

/// Starts the messages with which a step begins. Only the owner does this, before it runs a task of
/// the step: a task would delay these messages, and messages of other ranks that depend on them.
void Runner::begin_messages() {
  for (; has_messages_to_begin(); ++message_steps_) {
    for (const RootBox& root : compiled_.message_roots()) {
      for_each_key(root.keys, [&](const Key& key) {
        Ready next;
        satisfy_one(*queues_[0], *root.family, key, message_steps_, next);
      });
    }
  }
}

/// Starts the messages with which a step begins and those that helpers have made ready; completes
/// those that have ended. Returns whether messages are in progress.
bool Runner::progress_messages() {
  if (messenger_ == nullptr) return false;
  begin_messages();
  if (!outbox_.seems_empty()) {
    outbox_.take_all([this](std::uint32_t i) -> auto& { return outbox_links_[i]; },
                     [this](std::uint32_t channel) { start(static_cast<int>(channel)); });
  }
  if (messages_in_progress_ != 0) finish_messages(messenger_->poll(ended_channels_));
  return messages_in_progress_ != 0;
}

void Runner::wait_for_message() {
  if (!is_quiescent()) return;
  SORREL_CHECK(messages_in_progress_ != 0, "a graph has nothing to do and is not done");
  const auto began = std::chrono::steady_clock::now();
  sorrel_explain_waits(explain_wait, this);
  const int count = messenger_->wait(ended_channels_);
  sorrel_explain_waits(nullptr, nullptr);
  waiting_seconds_ +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  finish_messages(count);
}

void Runner::finish_messages(int count) {
  WorkerQueue& own = *queues_[0];
  for (int i = 0; i < count; ++i) {
    --messages_in_progress_;
    const int channel = ended_channels_[static_cast<std::size_t>(i)];
    const Ready ended = message_of(channel);
    channel_steps_[static_cast<std::size_t>(channel)] = no_step;
    Ready next;
    if (finish(own, ended, next)) push(own, next);
  }
}

void Runner::explain_wait(void* runner, char* text, std::size_t bytes) {
  const std::string wait = static_cast<const Runner*>(runner)->text_of_wait();
  const std::size_t length = std::min(wait.size(), bytes - 1);
  std::copy_n(wait.data(), length, text);
  text[length] = '\0';
}

/// "graph: receive[0] from 1, step 3, before use[0]", for the first messages in progress. Called
/// while the owner waits for them.
std::string Runner::text_of_wait() const {
  constexpr int named_max = 3;
  std::string text;
  int count = 0;
  for (std::size_t channel = 0; channel < channel_steps_.size(); ++channel) {
    if (channel_steps_[channel] == no_step || ++count > named_max) continue;
    const Ready message = message_of(static_cast<int>(channel));
    const int family = message.family->index;
    text += (text.empty() ? "graph: " : "; ") + dag_.name_of(family, message.task.key) +
            text_of("%s %d, step %lld", message.family->kind == FamilyKind::send ? " to" : " from",
                    channels_[channel].peer, static_cast<long long>(message.task.step));
    for (const Edge& edge : dag_.edges_from(family)) {
      if ((edge.crosses_step && message.task.step + 1 == steps_)) continue;
      const Box<dimension_count_max> after = dag_.successors(edge, message.task.key);
      if (after.count() == 0 || (edge.to == family && edge.crosses_step)) continue;
      text += ", before " + dag_.name_of(edge.to, after.lo);
      break;
    }
  }
  if (count > named_max) text += text_of("; %d more", count - named_max);
  return text;
}

Ready Runner::message_of(int channel) const {
  const auto& [family, index, peer] = channels_[static_cast<std::size_t>(channel)];
  return {{family->space.key_at(index), channel_steps_[static_cast<std::size_t>(channel)]},
          family,
          index};
}

}  // namespace sorrel::graph
