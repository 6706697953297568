//! merge_otf2 - makes an archive in the Open Trace Format 2 (Score-P, Vampir, Scalasca) from what
//! the workers of a job have recorded.
//!
//! The archive is a folder that contains traces.otf2, as those of Score-P. Each rank is a process
//! with one location: calls of MPI, the waits in them, loops, tasks of graphs, regions of OpenMP,
//! and messages, whose communicator is always that of all ranks. Needs libotf2 when Sorrel is
//! built.
#pragma once

#include <string>
#include <string_view>

#include "tools/sorrel/trace/merge.hpp"

namespace sorrel::tool {

/// Whether a trace of this name is an archive: it ends with ".otf2".
[[nodiscard]] bool is_otf2_name(std::string_view name);

/// Why no archive may be written there; "": it may. An archive of an earlier run may be there.
[[nodiscard]] std::string otf2_refusal(const std::string& path);

/// Removes the files of an archive, and nothing else.
void remove_archive(const std::string& path);

/// `folder` has the parts of a trace. Overwrites an archive at `path`.
[[nodiscard]] Result<MergedTrace> merge_otf2(const std::string& folder, const std::string& path);

}  // namespace sorrel::tool
