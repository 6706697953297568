#include "check/sent_messages.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace sorrel::check {

std::uint64_t SentMessages::add(SentMessage message) {
  SORREL_ASSERT(messages_.empty() || messages_.back().number < next_,
                "message %llu is numbered twice", static_cast<unsigned long long>(next_));
  message.number = next_++;
  messages_.push_back(std::move(message));
  return messages_.back().number;
}

void SentMessages::remove(std::uint64_t number) {
  const auto found = std::ranges::find(messages_, number, &SentMessage::number);
  if (found != messages_.end()) messages_.erase(found);
}

bool SentMessages::has_standard() const {
  return std::ranges::any_of(messages_, &SentMessage::is_standard);
}

std::optional<SentMessage> SentMessages::take(std::uint32_t context,
                                              std::int32_t receiver,
                                              std::int32_t tag) {
  const auto found = std::ranges::find_if(messages_, [&](const SentMessage& message) {
    return message.context == context && message.receiver == receiver && message.tag == tag;
  });
  if (found == messages_.end()) return std::nullopt;
  SORREL_ASSERT(found->number < next_, "message %llu has not been sent",
                static_cast<unsigned long long>(found->number));
  SentMessage message = std::move(*found);
  messages_.erase(found);
  return message;
}

}  // namespace sorrel::check
