//! A call of MPI by a thread that is no fiber of a worker: any thread of a rank that has several.
//!
//! A binding finds no running rank. It then makes a runtime::ThreadCall, during which the calling
//! thread has the place of the rank's worker, and calls itself again.
#pragma once

#include <optional>

#include "runtime/rank_guests.hpp"

namespace sorrel::abi {

/// again() as a ThreadCall; nothing if the caller is no such thread.
template <class Again>
[[nodiscard, gnu::cold, gnu::noinline]] auto call_on_thread(const char* function,
                                                            const void* call_site,
                                                            Again again)
    -> std::optional<decltype(again())> {
  const runtime::ThreadCall call(function, call_site);
  if (!call.is_made()) return std::nullopt;
  return again();
}

}  // namespace sorrel::abi

/// First in a binding: the same call by a thread of a rank. `self` is the running rank, or null.
#define SORREL_CALL_ON_THREAD(self, name, ...)                                                  \
  do {                                                                                          \
    if ((self) == nullptr) [[unlikely]] {                                                       \
      const auto result_on_thread = ::sorrel::abi::call_on_thread(                              \
          "MPI_" #name, __builtin_return_address(0), [=] { return PMPI_##name(__VA_ARGS__); }); \
      if (result_on_thread) return *result_on_thread;                                           \
    }                                                                                           \
  } while (false)
