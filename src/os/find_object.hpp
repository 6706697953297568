//! sorrel_find_object - the loaded file that an address lies in, as _dl_find_object() of glibc 2.35
//! finds it, with older ones.
//!
//! Any thread. Takes the loader's lock, which glibc's function does not. Also a part of the archive
//! that libraries and programs for an older glibc contain (cmake/SorrelGlibc.cmake), so it needs no
//! other module.
#pragma once

#include <cstddef>
#include <dlfcn.h>
#include <link.h>

/// 0, or -1 if the address lies in no loaded file with a table for unwinding. `iterate` is
/// dl_iterate_phdr().
extern "C" int sorrel_find_object(
    void* address,
    dl_find_object* result,
    int (*iterate)(int (*visit)(dl_phdr_info* info, std::size_t size, void* data),
                   void* data)) noexcept;
