//! SavedServices - a rank's keyvals, attributes, error codes and handles as integers, as records
//! (RankServices of mpi/match/rank_state.hpp).
#pragma once

#include "base/byte_cursor.hpp"
#include "base/byte_writer.hpp"
#include "mpi/match/rank_state.hpp"

namespace sorrel::mpi {

void save_attributes(const AttributeMapPointer& attributes, ByteWriter& to);

/// The rank's keyvals are restored.
void restore_attributes(RankState& rank, AttributeMapPointer& attributes, ByteCursor& from);

void save_services(const RankState& rank, ByteWriter& to);

/// In a rank whose memory is restored, before its other objects.
void restore_services(RankState& rank, ByteCursor& from);

}  // namespace sorrel::mpi
