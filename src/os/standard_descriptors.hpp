//! StandardDescriptors - keeps numbers 0 to 2 from being used for other files.
//!
//! A process may be started with them closed. Its first open() would then become its standard input
//! or output.
#pragma once

namespace sorrel::os {

/// Opens /dev/null in place of each closed one, so that reading from 0 and writing to 1 and 2 still
/// fail. Call before anything is opened.
void reserve_standard_descriptors();

}  // namespace sorrel::os
