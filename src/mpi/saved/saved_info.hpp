//! SavedInfo - an info list as a record.
#pragma once

#include "base/byte_cursor.hpp"
#include "base/byte_writer.hpp"
#include "mpi/comm/info.hpp"

namespace sorrel::mpi {

void save_info(const Info& info, ByteWriter& to);

/// Restores into an empty list.
void restore_info(Info& info, ByteCursor& from);

}  // namespace sorrel::mpi
