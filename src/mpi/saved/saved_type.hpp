//! SavedType - a derived datatype as a record: the arguments of its constructor, with which it is
//! made again.
#pragma once

#include "base/byte_cursor.hpp"
#include "base/byte_writer.hpp"
#include "mpi/datatype/datatype.hpp"

namespace sorrel::mpi {

void save_type(const Datatype& type, ByteWriter& to);

/// A new datatype like the saved one, with one owner. Null: the record is damaged, or no memory.
/// The datatypes of which it was made exist.
[[nodiscard]] Datatype* restore_type(ByteCursor& from);

}  // namespace sorrel::mpi
