#include "launch/process_mark.hpp"

#include <charconv>
#include <cstdint>
#include <span>

namespace sorrel::launch {

namespace {

constexpr std::size_t digit_count = 8;

void write_digits(std::span<char> to, std::int32_t number) {
  constexpr std::string_view digits = "0123456789abcdef";
  auto left = static_cast<std::uint32_t>(number);
  for (std::size_t i = to.size(); i > 0; --i, left >>= 4)
    to[i - 1] = digits[left & 15];
}

std::optional<std::int32_t> number_in(std::string_view digits) {
  std::uint32_t number = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return static_cast<std::int32_t>(number);
}

}  // namespace

std::array<char, mark_bytes> encode(const ProcessMark& mark) {
  std::array<char, mark_bytes> text{};
  const std::span<char> all(text);
  write_digits(all.first(digit_count), mark.process);
  write_digits(all.subspan(digit_count, digit_count), mark.thread);
  text.back() = static_cast<char>(mark.handler);
  return text;
}

std::optional<ProcessMark> decode_mark(std::string_view text) {
  if (text.size() != mark_bytes) return std::nullopt;
  const auto process = number_in(text.substr(0, digit_count));
  const auto thread = number_in(text.substr(digit_count, digit_count));
  const auto handler = static_cast<RequestHandler>(text.back());
  const bool is_handler = handler == RequestHandler::none || handler == RequestHandler::library ||
                          handler == RequestHandler::program;
  if (!process || !thread || !is_handler) return std::nullopt;
  return ProcessMark{.process = *process, .thread = *thread, .handler = handler};
}

}  // namespace sorrel::launch
