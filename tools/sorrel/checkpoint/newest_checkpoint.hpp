//! newest_checkpoint - the checkpoint with which a job can go on.
#pragma once

#include <cstdint>

#include <sorrel/result.hpp>

#include "checkpoint/generation_store.hpp"

namespace sorrel::tool {

/// The number of the newest whole checkpoint; 0: there is none. Sets newer ones aside that are
/// damaged, each with a note.
[[nodiscard]] Result<std::uint64_t> newest_checkpoint(const checkpoint::GenerationStore& store);

}  // namespace sorrel::tool
