#include "mpi/comm/memory_kinds.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "base/ascii_case.hpp"

namespace sorrel::mpi {

namespace {

constexpr std::array<std::string_view, 3> mpi_restrictors = {"alloc_mem", "win_allocate",
                                                             "win_allocate_shared"};
constexpr std::array<std::string_view, 3> cuda_restrictors = {"host", "device", "managed"};

struct Kind {
  std::string_view name;
  std::span<const std::string_view> restrictors;
  bool is_of_cuda;
};

constexpr std::array<Kind, 3> kinds = {
    Kind{.name = "mpi", .restrictors = mpi_restrictors, .is_of_cuda = false},
    Kind{.name = "system", .restrictors = {}, .is_of_cuda = false},
    Kind{.name = "cuda", .restrictors = cuda_restrictors, .is_of_cuda = true},
};

std::string_view without_blanks(std::string_view text) {
  while (text.starts_with(' '))
    text.remove_prefix(1);
  while (text.ends_with(' '))
    text.remove_suffix(1);
  return text;
}

/// Takes the text before the next separator off the front of `rest`.
std::string_view take_part(std::string_view& rest, char separator) {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return without_blanks(part);
}

bool is_supported(std::string_view text, bool has_cuda) {
  const std::string_view name = take_part(text, ':');
  const auto* const kind = std::ranges::find_if(
      kinds, [name](const Kind& known) { return equal_ignoring_case(known.name, name); });
  if (kind == kinds.end() || (kind->is_of_cuda && !has_cuda)) return false;
  while (!text.empty()) {
    const std::string_view restrictor = take_part(text, ':');
    const bool is_known = std::ranges::any_of(
        kind->restrictors,
        [restrictor](std::string_view known) { return equal_ignoring_case(known, restrictor); });
    if (!is_known) return false;
  }
  return true;
}

}  // namespace

const char* supported_memory_kinds(bool has_cuda) {
  return has_cuda ? "mpi,mpi:alloc_mem,mpi:win_allocate,mpi:win_allocate_shared,system,"
                    "cuda,cuda:host,cuda:device,cuda:managed"
                  : "mpi,mpi:alloc_mem,mpi:win_allocate,mpi:win_allocate_shared,system";
}

bool are_memory_kinds_supported(std::string_view list, bool has_cuda) {
  list = without_blanks(list);
  if (list.ends_with(',') || list.ends_with(':')) return false;
  while (!list.empty()) {
    if (!is_supported(take_part(list, ','), has_cuda)) return false;
  }
  return true;
}

}  // namespace sorrel::mpi
