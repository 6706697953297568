//! Gather and scatter: moves the data of a Layout between a typed buffer and a packed stream.
//!
//! Copies the whole of a layout or any range of its packed stream. Ranges let long messages pass
//! through a small buffer and let a short message fill a part of a large receive. Pure; recursion
//! is as deep as the layout.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi/datatype/layout.hpp"

namespace sorrel::mpi {

/// The packed bytes [from, to) of layouts `stride` apart, of which the first is at `typed`; not
/// empty.
struct Strip {
  const Layout& layout;
  std::int64_t stride;
  std::size_t from;
  std::size_t to;
};

/// Typed buffer to packed stream; `packed` receives the byte at strip.from first.
void gather(const Strip& strip, const void* typed, void* packed);

/// Packed stream to typed buffer; `packed` holds the byte at strip.from first.
void scatter(const Strip& strip, const void* packed, void* typed);

}  // namespace sorrel::mpi
