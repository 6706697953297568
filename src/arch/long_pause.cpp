#include "arch/long_pause.hpp"

#include "arch/cpu.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sorrel::arch {

#if defined(__x86_64__)

namespace {

constexpr std::uint32_t cycles_max = 1000;

/// In state C0.1, whose end takes less than that of C0.2.
[[gnu::target("waitpkg")]] void pause_until(std::uint64_t end) {
  (void)_tpause(1, end);
}

/// The timer ends it. No other thread writes the line that it monitors.
[[gnu::target("mwaitx")]] void pause_for(std::uint32_t cycles) {
  constexpr unsigned has_timer = 2;
  constexpr unsigned without_deep_states = 0xf0;
  const char line = 0;
  _mm_monitorx(&line, 0, 0);
  _mm_mwaitx(has_timer, without_deep_states, cycles);
}

}  // namespace

LongPause long_pause_kind() {
  if (__builtin_cpu_supports("waitpkg")) return LongPause::tpause;
  if (__builtin_cpu_supports("mwaitx")) return LongPause::mwaitx;
  return LongPause::spin_hint;
}

void long_pause() {
  switch (long_pause_kind()) {
    case LongPause::spin_hint:
      pause();
      break;
    case LongPause::tpause:
      pause_until(cycles() + cycles_max);
      break;
    case LongPause::mwaitx:
      pause_for(cycles_max);
      break;
  }
}

#else

LongPause long_pause_kind() {
  return LongPause::spin_hint;
}

void long_pause() {
  pause();
}

#endif

}  // namespace sorrel::arch
