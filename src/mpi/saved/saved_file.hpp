//! SavedFile - a rank's view of an open file as a record. The file is opened again by its name; its
//! contents are as the program has left them.
#pragma once

#include <string>
#include <vector>

#include "base/byte_cursor.hpp"
#include "base/byte_writer.hpp"
#include "mpi/io/file.hpp"
#include "mpi/saved/shared_parts.hpp"

namespace sorrel::mpi {

/// Why the view cannot be saved, for a user; null: it can.
[[nodiscard]] const char* reason_not_saved(const File& file);

/// The descriptors of the rank's open files.
void add_descriptors(RankState& rank, std::vector<int>& to);

void save_file(const File& file, ByteWriter& to);

/// Makes a view by new, when all other objects of the rank are restored. Returns an error, or "".
[[nodiscard]] std::string restore_file(RankState& rank, SharedParts& parts, ByteCursor& from);

}  // namespace sorrel::mpi
