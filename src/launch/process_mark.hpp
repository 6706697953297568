//! ProcessMark - what a process of a job shows to other processes of its user: that it is one, and
//! whether it answers requests to look into it.
//!
//! `sorrel run` passes it as an environment variable of fixed length. The library removes the
//! variable from the environment and writes the mark over its first value, in the block that the
//! system shows as /proc/PID/environ. So a mark ends with its process, and costs no file. A child
//! that a rank has forked shows the mark of its parent: `process` tells. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sorrel::launch {

inline constexpr const char* mark_variable = "SORREL_MARK";

/// What SIGUSR1 reaches in the process.
enum class RequestHandler : char {
  none = '-',     ///< the default action
  library = 'l',  ///< requests to look into the process are answered
  program = 'p',  ///< a handler of the program, in a process that is a rank
};

struct ProcessMark {
  /// As the process itself is numbered. 0: the library has not started.
  std::int32_t process = 0;
  /// The thread to which requests are sent; 0: the first one.
  std::int32_t thread = 0;
  RequestHandler handler = RequestHandler::none;

  bool operator==(const ProcessMark&) const = default;
};

inline constexpr std::size_t mark_bytes = 17;

[[nodiscard]] std::array<char, mark_bytes> encode(const ProcessMark& mark);

/// Nothing if the text is not a result of encode().
[[nodiscard]] std::optional<ProcessMark> decode_mark(std::string_view text);

}  // namespace sorrel::launch
