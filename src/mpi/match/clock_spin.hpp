//! Whether a rank does little else than read the clock. Pure. Nanoseconds.
#pragma once

#include <algorithm>
#include <cstdint>

namespace sorrel::mpi {

/// A rank that has spun for so long lets other ranks run.
inline constexpr std::int64_t clock_spin_ns_max = 1'000'000;

/// For how long the rank has spun, `pause_ns` after its last reading, when it had spun for
/// `spin_ns`. A pause of more than 2 us is work, or an interrupt: a loaded machine has several in
/// each millisecond. So a pause takes back some of the time, not all. A negative one: the rank
/// reads several clocks.
constexpr std::int64_t clock_spin_after(std::int64_t spin_ns, std::int64_t pause_ns) {
  constexpr std::int64_t pause_ns_max = 2'000;
  constexpr std::int64_t taken_back_ns = 20'000;
  if (pause_ns >= 0 && pause_ns <= pause_ns_max) return spin_ns + pause_ns;
  return std::max<std::int64_t>(spin_ns - taken_back_ns, 0);
}

}  // namespace sorrel::mpi
