#include "program/image/debugger.hpp"

#include <cstdint>
#include <dlfcn.h>
#include <fstream>
#include <link.h>
#include <string>
#include <vector>

#include "base/check.hpp"

extern "C" {
/// Version, number of images, base of the first, distance between two, and the template image's
/// base, first and last offset.
[[gnu::visibility("default")]] std::uint64_t sorrel_copies[7];
}

namespace sorrel::program {

namespace {

/// The record in glibc's layout from version 2 on.
struct Namespace {
  r_debug record;
  Namespace* next;
};

// Constant once published. A debugger may read it at any time, so it stays as long as the process.
Namespace copies_namespace;
std::vector<link_map> copies_maps;

[[nodiscard]] bool is_traced() {
  std::ifstream status("/proc/self/status");
  for (std::string key; status >> key;) {
    if (key == "TracerPid:") {
      int tracer = 0;
      return status >> tracer && tracer != 0;
    }
  }
  return false;
}

// Loads and unloads a library that every glibc has and no program uses: the debugger then reads the
// chain again.
void notify_debugger() {
  if (void* handle = ::dlopen("libBrokenLocale.so.1", RTLD_LAZY | RTLD_LOCAL)) ::dlclose(handle);
}

// Read by tools/gdb/sorrel_gdb.py, also in a stripped library.
void fill_gdb_table(const ImageSlab& slab, int count) {
  const Image& image = slab.image();
  sorrel_copies[0] = 1;  // the layout's version
  sorrel_copies[1] = static_cast<std::uint64_t>(count);
  sorrel_copies[2] = slab.copy(0).base();
  sorrel_copies[3] = slab.copy(0).is_template() ? 0 : image.span;
  sorrel_copies[4] = image.base();
  sorrel_copies[5] = image.begin();
  sorrel_copies[6] = image.executable().end();
}

}  // namespace

void register_with_debugger(const ImageSlab& slab, int count) {
  SORREL_ASSERT(count >= 0 && count <= slab.count(), "%d images of %d", count, slab.count());
  // A process that waits for ranks that others spawn.
  if (count == 0) return;
  fill_gdb_table(slab, count);
  const std::vector<Module>& modules = slab.image().modules;
  r_debug* first = slab.image().executable().debugger_record;
  if (first == nullptr || slab.copy(0).is_template() || !copies_maps.empty()) return;
  copies_maps.reserve(static_cast<std::size_t>(count) * modules.size());
  for (int i = 0; i < count; ++i) {
    for (const Module& module : modules) {
      const PrivatizedImage copy = slab.copy(i);
      link_map map{};
      map.l_addr = copy.base_of(module);
      map.l_name = const_cast<char*>(module.path.c_str());  // the C type knows no const
      map.l_ld = copy.at<ElfW(Dyn)>(module.dynamic + module.shift);
      copies_maps.push_back(map);
    }
  }
  for (std::size_t i = 1; i < copies_maps.size(); ++i) {
    copies_maps[i].l_prev = &copies_maps[i - 1];
    copies_maps[i - 1].l_next = &copies_maps[i];
  }
  // The debugger's list leads through them.
  SORREL_ASSERT(copies_maps.size() == static_cast<std::size_t>(count) * modules.size(),
                "%zu maps of %d images", copies_maps.size(), count);
  copies_namespace.record = *first;
  copies_namespace.record.r_version = 2;
  copies_namespace.record.r_map = copies_maps.data();
  auto* last = reinterpret_cast<Namespace*>(first);
  while (last->record.r_version >= 2 && last->next != nullptr)
    last = last->next;
  last->next = &copies_namespace;
  last->record.r_version = 2;
  if (is_traced()) notify_debugger();
}

}  // namespace sorrel::program
