#include "tools/sorrel/live/live_request.hpp"

#include <algorithm>
#include <cctype>
#include <fmt/core.h>

namespace sorrel::tool {

namespace {

/// Takes as long for every text of the same length.
bool is_equal(std::string_view one, std::string_view other) {
  if (one.size() != other.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < one.size(); ++i)
    difference |= static_cast<unsigned char>(one[i]) ^ static_cast<unsigned char>(other[i]);
  return difference == 0;
}

std::string_view take_until(std::string_view& text, std::string_view end) {
  const std::size_t at = text.find(end);
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(at == text.npos ? text.size() : at + end.size());
  return taken;
}

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_space(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && is_space(text.back()))
    text.remove_suffix(1);
  return text;
}

bool is_header(std::string_view name, std::string_view lower_case) {
  return std::ranges::equal(name, lower_case, {}, [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
}

bool is_own_host(std::string_view host, std::uint16_t port) {
  return host == fmt::format("127.0.0.1:{}", port) || host == fmt::format("localhost:{}", port);
}

const char* reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    default:
      return "Service Unavailable";
  }
}

}  // namespace

LiveAnswer live_answer(std::string_view head, std::string_view token, std::uint16_t port) {
  std::string_view line = take_until(head, "\r\n");
  const std::string_view method = take_until(line, " ");
  std::string_view target = take_until(line, " ");
  if (!line.starts_with("HTTP/1.") || !target.starts_with("/")) return LiveAnswer::bad_request;
  int host_count = 0;
  bool is_own = false;
  while (!head.empty()) {
    std::string_view field = take_until(head, "\r\n");
    if (field.find(':') == field.npos) return LiveAnswer::bad_request;
    if (!is_header(take_until(field, ":"), "host")) continue;
    ++host_count;
    is_own = is_own_host(trimmed(field), port);
  }
  target.remove_prefix(1);
  const bool has_token = is_equal(take_until(target, "/"), token);
  if (!has_token || host_count != 1 || !is_own) return LiveAnswer::forbidden;
  if (method != "GET") return LiveAnswer::wrong_method;
  if (target.empty()) return LiveAnswer::page;
  return target == "state" ? LiveAnswer::state : LiveAnswer::not_found;
}

std::string live_response(int status, std::string_view type, std::string_view body) {
  return fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n"
      "Referrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n"
      "Cross-Origin-Resource-Policy: same-origin\r\nConnection: close\r\n{}\r\n{}",
      status, reason_of(status), type, body.size(), status == 405 ? "Allow: GET\r\n" : "", body);
}

std::string live_refusal(LiveAnswer answer) {
  const int status = static_cast<int>(answer);
  return live_response(status, "text/plain", fmt::format("{} {}\n", status, reason_of(status)));
}

}  // namespace sorrel::tool
