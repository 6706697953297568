//! LiveRequest - what a live page's server answers to the head of an HTTP request. Pure.
//!
//! The only paths are /TOKEN/ and /TOKEN/state; no path leads to a file. Without the token, and for
//! a host name that is not that of this machine's loopback (a page of another site whose name leads
//! there), the answer is 403 whatever the path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sorrel::tool {

enum class LiveAnswer : std::uint16_t {
  page = 0,
  state = 1,
  bad_request = 400,
  forbidden = 403,
  not_found = 404,
  wrong_method = 405,
};

/// Bytes of a request's head.
inline constexpr std::size_t live_head_bytes_max = 8192;

/// `head`: up to the empty line.
[[nodiscard]] LiveAnswer live_answer(std::string_view head,
                                     std::string_view token,
                                     std::uint16_t port);

/// The head and the body of a response. `type`: of the body.
[[nodiscard]] std::string live_response(int status, std::string_view type, std::string_view body);

/// The response to a request that gets no page: of 400 and above.
[[nodiscard]] std::string live_refusal(LiveAnswer answer);

}  // namespace sorrel::tool
