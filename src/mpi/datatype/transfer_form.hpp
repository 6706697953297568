//! TransferForm - a datatype as bytes, for another process that moves data of it.
//!
//! Holds the layout, the extent and the kind of the basic elements: what copying and reductions
//! need, whatever constructors made the type, and nothing for queries. Shared parts of a layout are
//! written once, so the form of a type is about as long as its memory here. The bytes are those of
//! this machine: the processes of a job have the same representation. Pure; called by the rank that
//! owns the datatype.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "mpi/datatype/datatype.hpp"

namespace sorrel::mpi {

/// Appends the form.
void append_transfer_form(const Datatype& type, std::vector<std::byte>& out);

/// The datatype of a form, with one owner and committed.
[[nodiscard]] Datatype* from_transfer_form(std::span<const std::byte> form);

}  // namespace sorrel::mpi
