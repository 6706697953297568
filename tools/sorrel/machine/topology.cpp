#include "tools/sorrel/machine/topology.hpp"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <fmt/core.h>
#include <hwloc.h>
#include <iterator>

#include "os/cpu_set.hpp"

namespace sorrel::tool {

namespace {

static_assert(HWLOC_API_VERSION >= 0x00020100 && HWLOC_API_VERSION < 0x00030000,
              "libhwloc.so.15 is the name of hwloc 2");
constexpr const char* hwloc_file = "libhwloc.so.15";

/// The functions of hwloc used here, looked up at run time: the command starts without hwloc's
/// libraries.
struct Hwloc {
  decltype(&hwloc_get_api_version) get_api_version = nullptr;
  decltype(&hwloc_topology_init) topology_init = nullptr;
  decltype(&hwloc_topology_set_components) topology_set_components = nullptr;
  decltype(&hwloc_topology_set_all_types_filter) topology_set_all_types_filter = nullptr;
  decltype(&hwloc_topology_set_type_filter) topology_set_type_filter = nullptr;
  decltype(&hwloc_topology_load) topology_load = nullptr;
  decltype(&hwloc_topology_destroy) topology_destroy = nullptr;
  decltype(&hwloc_get_type_depth) get_type_depth = nullptr;
  decltype(&hwloc_get_nbobjs_by_depth) get_nbobjs_by_depth = nullptr;
  decltype(&hwloc_get_obj_by_depth) get_obj_by_depth = nullptr;
  decltype(&hwloc_bitmap_next) bitmap_next = nullptr;

  [[nodiscard]] int count(hwloc_topology_t topology, hwloc_obj_type_t type) const {
    const int depth = get_type_depth(topology, type);
    return depth == HWLOC_TYPE_DEPTH_UNKNOWN
               ? 0
               : static_cast<int>(get_nbobjs_by_depth(topology, depth));
  }
};

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

std::optional<Hwloc> load_hwloc() {
  void* library = dlopen(hwloc_file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::nullopt;
  Hwloc hwloc;
  const bool complete =
      find(library, "hwloc_get_api_version", hwloc.get_api_version) &&
      find(library, "hwloc_topology_init", hwloc.topology_init) &&
      find(library, "hwloc_topology_set_components", hwloc.topology_set_components) &&
      find(library, "hwloc_topology_set_all_types_filter", hwloc.topology_set_all_types_filter) &&
      find(library, "hwloc_topology_set_type_filter", hwloc.topology_set_type_filter) &&
      find(library, "hwloc_topology_load", hwloc.topology_load) &&
      find(library, "hwloc_topology_destroy", hwloc.topology_destroy) &&
      find(library, "hwloc_get_type_depth", hwloc.get_type_depth) &&
      find(library, "hwloc_get_nbobjs_by_depth", hwloc.get_nbobjs_by_depth) &&
      find(library, "hwloc_get_obj_by_depth", hwloc.get_obj_by_depth) &&
      find(library, "hwloc_bitmap_next", hwloc.bitmap_next);
  if (!complete) return std::nullopt;
  return hwloc;
}

/// Creates a topology without hwloc's plug-ins (graphics, PCI, XML), which take milliseconds to
/// load and contain nothing used here. An environment variable is the only switch; its old value is
/// restored for the program.
bool init_without_plugins(const Hwloc& hwloc, hwloc_topology_t* topology) {
  const char* before = std::getenv("HWLOC_PLUGINS_PATH");
  const std::optional<std::string> saved =
      before == nullptr ? std::nullopt : std::optional<std::string>(before);
  setenv("HWLOC_PLUGINS_PATH", "", 1);
  const bool ready = hwloc.topology_init(topology) == 0;
  if (saved) {
    setenv("HWLOC_PLUGINS_PATH", saved->c_str(), 1);
  } else {
    unsetenv("HWLOC_PLUGINS_PATH");
  }
  return ready;
}

bool load(const Hwloc& hwloc, hwloc_topology_t topology, TopologyDetail detail) {
  hwloc.topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
  hwloc.topology_set_type_filter(topology, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc.topology_set_type_filter(topology, HWLOC_OBJ_PACKAGE, HWLOC_TYPE_FILTER_KEEP_ALL);
  // Memory nodes within a package: without groups each would have the cpus of all.
  hwloc.topology_set_type_filter(topology, HWLOC_OBJ_GROUP, HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
  if (detail == TopologyDetail::with_caches) {
    for (int type = HWLOC_OBJ_L1CACHE; type <= HWLOC_OBJ_L5CACHE; ++type) {
      hwloc.topology_set_type_filter(topology, static_cast<hwloc_obj_type_t>(type),
                                     HWLOC_TYPE_FILTER_KEEP_ALL);
    }
  } else {
    // hwloc's own decoding of processor identification runs on every core; the system's files
    // suffice for the order.
    hwloc.topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
    // Cores that share a last-level cache stay together in hwloc's order.
    hwloc.topology_set_type_filter(topology, HWLOC_OBJ_L3CACHE, HWLOC_TYPE_FILTER_KEEP_ALL);
  }
  return hwloc.topology_load(topology) == 0;
}

std::vector<HardwareThread> threads_of(const Hwloc& hwloc, hwloc_topology_t topology) {
  std::vector<HardwareThread> threads;
  const int depth = hwloc.get_type_depth(topology, HWLOC_OBJ_PU);
  const unsigned count = hwloc.get_nbobjs_by_depth(topology, depth);
  for (unsigned index = 0; index < count; ++index) {
    const hwloc_obj_t unit = hwloc.get_obj_by_depth(topology, depth, index);
    hwloc_obj_t core = unit;
    while (core != nullptr && core->type != HWLOC_OBJ_CORE)
      core = core->parent;
    const int core_index = static_cast<int>(core == nullptr ? index : core->logical_index);
    threads.push_back({.cpu = static_cast<int>(unit->os_index), .core = core_index});
  }
  return threads;
}

std::vector<MemoryNode> nodes_of(const Hwloc& hwloc, hwloc_topology_t topology) {
  std::vector<MemoryNode> nodes;
  const int count = hwloc.count(topology, HWLOC_OBJ_NUMANODE);
  for (int index = 0; index < count; ++index) {
    const hwloc_obj_t object =
        hwloc.get_obj_by_depth(topology, HWLOC_TYPE_DEPTH_NUMANODE, static_cast<unsigned>(index));
    MemoryNode& node =
        nodes.emplace_back(MemoryNode{.number = static_cast<int>(object->os_index),
                                      .size_bytes = object->attr->numanode.local_memory,
                                      .cpus = {}});
    for (int cpu = hwloc.bitmap_next(object->cpuset, -1); cpu >= 0;
         cpu = hwloc.bitmap_next(object->cpuset, cpu))
      node.cpus.push_back(cpu);
  }
  return nodes;
}

std::vector<CacheLevel> caches_of(const Hwloc& hwloc, hwloc_topology_t topology) {
  std::vector<CacheLevel> caches;
  for (int type = HWLOC_OBJ_L1CACHE; type <= HWLOC_OBJ_L5CACHE; ++type) {
    const int depth = hwloc.get_type_depth(topology, static_cast<hwloc_obj_type_t>(type));
    if (depth < 0) continue;
    const hwloc_obj_t first = hwloc.get_obj_by_depth(topology, depth, 0);
    const int level = type - HWLOC_OBJ_L1CACHE + 1;
    caches.push_back({.name = fmt::format("L{}{}", level, level == 1 ? "d" : ""),
                      .count = static_cast<int>(hwloc.get_nbobjs_by_depth(topology, depth)),
                      .size_bytes = first == nullptr ? 0 : first->attr->cache.size});
  }
  return caches;
}

}  // namespace

std::optional<Topology> read_topology(TopologyDetail detail) {
  const auto hwloc = load_hwloc();
  hwloc_topology_t handle = nullptr;
  if (!hwloc || !init_without_plugins(*hwloc, &handle)) return std::nullopt;
  std::optional<Topology> topology;
  if (load(*hwloc, handle, detail)) {
    const unsigned version = hwloc->get_api_version();
    topology = Topology{.package_count = hwloc->count(handle, HWLOC_OBJ_PACKAGE),
                        .core_count = hwloc->count(handle, HWLOC_OBJ_CORE),
                        .nodes = nodes_of(*hwloc, handle),
                        .threads = threads_of(*hwloc, handle),
                        .caches = detail == TopologyDetail::with_caches ? caches_of(*hwloc, handle)
                                                                        : std::vector<CacheLevel>{},
                        .hwloc_version = fmt::format("{}.{}", version >> 16, version >> 8 & 0xff)};
  }
  hwloc->topology_destroy(handle);
  return topology;
}

std::string describe_nodes(const Topology& topology, std::span<const int> cpus) {
  std::string text;
  if (topology.nodes.size() < 2) return text;
  for (const MemoryNode& node : topology.nodes) {
    std::vector<int> near;
    std::ranges::copy_if(node.cpus, std::back_inserter(near),
                         [cpus](int cpu) { return std::ranges::find(cpus, cpu) != cpus.end(); });
    if (near.empty()) continue;
    text += fmt::format("{}{}: cpus {}", text.empty() ? "" : "; ", node.number,
                        os::format_cpu_ranges(near));
  }
  return text;
}

}  // namespace sorrel::tool
