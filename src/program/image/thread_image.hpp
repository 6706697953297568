//! Initial thread-local variables of a thread that belongs to a rank.
#pragma once

#include "program/image/image_slab.hpp"

namespace sorrel::program {

/// On a new thread: the loader has filled its thread-locals from the template image. Redirects
/// pointers into the template image to `copy`, in every module.
void fill_thread_locals(const PrivatizedImage& copy);

}  // namespace sorrel::program
