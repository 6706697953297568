//! StandardDescriptors - numbers 0 to 2 are never a file of ours.
//!
//! A process may be started with them closed. Its first open() would then become its standard input
//! or output.
#pragma once

namespace sorrel::os {

/// Opens /dev/null in the place of each that is closed, so that reading from 0 and writing to 1 and
/// 2 fail as before. Call before anything is opened.
void reserve_standard_descriptors();

}  // namespace sorrel::os
