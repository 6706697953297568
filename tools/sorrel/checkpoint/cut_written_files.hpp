//! cut_written_files - before a job goes on from a checkpoint: files that its ranks write get the
//! length that they had then.
#pragma once

#include <cstdint>
#include <string>

#include "checkpoint/generation_store.hpp"

namespace sorrel::tool {

/// While no process of the job runs. Prints a note if a file was longer. Returns an error, or "".
[[nodiscard]] std::string cut_written_files(const checkpoint::GenerationStore& store,
                                            std::uint64_t generation);

}  // namespace sorrel::tool
