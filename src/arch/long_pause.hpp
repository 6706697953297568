//! long_pause() - the pause between two polls of a wait that has already lasted for some time: in a
//! light sleep of the core, where the processor has one that ends by itself.
//!
//! The sleep saves power and leaves the core's units to its other hardware thread. Any thread.
#pragma once

#include <cstdint>

namespace sorrel::arch {

enum class LongPause : std::uint8_t {
  spin_hint,  ///< pause()
  tpause,     ///< Intel, WAITPKG
  mwaitx,     ///< AMD, MONITORX
};

/// That of this processor.
[[nodiscard]] LongPause long_pause_kind();

/// Returns after some 1000 cycles of the counter at most.
void long_pause();

}  // namespace sorrel::arch
