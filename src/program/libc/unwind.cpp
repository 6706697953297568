//! Exceptions and back traces in privatized images: the loader's tables know only the template
//! image.
//!
//! Any thread, also from a signal handler. _dl_find_object (libgcc since 12) is answered in
//! a few steps. dl_iterate_phdr (older libgcc, libunwind, profilers) shows a rank and its threads
//! its own images instead of the template images, so that its cost does not grow with the number of
//! ranks. Outside of ranks it shows every image after the libraries.

#include "os/find_object.hpp"
#include "program/base/libc.hpp"
#include "program/image/image_slab.hpp"
#include "program/rank/rank_process.hpp"
#include "program/rank/starter_of_thread.hpp"

namespace sorrel::program {

namespace {

using PhdrVisitor = int(dl_phdr_info* info, std::size_t size, void* data);

[[nodiscard]] dl_phdr_info description(const PrivatizedImage& copy, const Module& module) {
  dl_phdr_info info{};
  info.dlpi_addr = copy.base_of(module);
  info.dlpi_name = module.path.c_str();
  info.dlpi_phdr = module.segments;
  info.dlpi_phnum = module.segment_count;
  return info;
}

// Passes the real entries on, with the rank's modules instead of the template image's.
struct Substitution {
  int index;
  PhdrVisitor* visit;
  void* data;
  dl_phdr_info executable;

  static int pass(dl_phdr_info* info, std::size_t size, void* self) {
    auto* substitution = static_cast<Substitution*>(self);
    for (const ImageSlab* slab : private_slabs()) {
      const PrivatizedImage copy = slab->copy(substitution->index);
      for (const Module& module : slab->image().modules) {
        if (info->dlpi_phdr != module.segments) continue;
        // A library that the rank has not opened.
        if (!slab->is_made(substitution->index)) return 0;
        if (&module == &current_slab()->image().executable()) substitution->executable = *info;
        dl_phdr_info copied = *info;
        copied.dlpi_addr = copy.base_of(module);
        return substitution->visit(&copied, size, substitution->data);
      }
    }
    return substitution->visit(info, size, substitution->data);
  }
};

/// Shows the images of all ranks.
int visit_images(PhdrVisitor* visit, void* data) {
  for (const ImageSlab* slab : private_slabs()) {
    for (int i = 0; i < slab->count(); ++i) {
      if (!slab->is_made(i)) continue;
      const PrivatizedImage copy = slab->copy(i);
      for (const Module& module : slab->image().modules) {
        dl_phdr_info info = description(copy, module);
        if (const int result = visit(&info, sizeof info, data); result != 0) return result;
      }
    }
  }
  return 0;
}

}  // namespace

}  // namespace sorrel::program

SORREL_INTERPOSED int _dl_find_object(void* address, dl_find_object* result) noexcept {
  using namespace sorrel::program;
  // The loader has it since glibc 2.35.
  static auto* const real =
      reinterpret_cast<decltype(&::_dl_find_object)>(libc_function("_dl_find_object"));
  static auto* const iterate = next_definition<decltype(::dl_iterate_phdr)>("dl_iterate_phdr");
  const auto find = [&](void* at) {
    return real != nullptr ? real(at, result) : sorrel_find_object(at, result, iterate);
  };
  const ImageSlab* slab = slab_at(reinterpret_cast<std::uintptr_t>(address));
  if (slab == nullptr) return find(address);
  const PrivatizedImage copy =
      slab->copy(slab->index_of(reinterpret_cast<std::uintptr_t>(address)));
  const Module* module = copy.module_at(reinterpret_cast<std::uintptr_t>(address));
  if (module == nullptr || module->unwind_table == 0) return -1;
  // The record of the template image is used for fields that are not addresses (link map, the
  // architecture's own fields).
  const std::uintptr_t base = copy.base_of(*module);
  const auto in_template = reinterpret_cast<std::uintptr_t>(address) - base + module->base;
  if (find(reinterpret_cast<void*>(in_template)) != 0) return -1;
  result->dlfo_map_start = reinterpret_cast<void*>(base + module->begin());
  result->dlfo_map_end = reinterpret_cast<void*>(base + module->end());
  result->dlfo_eh_frame = reinterpret_cast<void*>(base + module->unwind_table);
  return 0;
}

SORREL_INTERPOSED int dl_iterate_phdr(int (*visit)(dl_phdr_info*, std::size_t, void*), void* data) {
  using namespace sorrel::program;
  static auto* const real = next_definition<decltype(::dl_iterate_phdr)>("dl_iterate_phdr");
  const ImageSlab* slab = current_slab();
  if (slab == nullptr || slab->count() == 0 || slab->copy(0).is_template())
    return real(visit, data);
  if (RankProcess* process = process_of_thread()) {
    Substitution substitution{process->libraries().index(), visit, data, {}};
    const int result = real(Substitution::pass, &substitution);
    return result != 0 ? result
                       : visit(&substitution.executable, sizeof substitution.executable, data);
  }
  const int result = real(visit, data);
  return result != 0 ? result : visit_images(visit, data);
}
