#include "runtime/rank_memory.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <numeric>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

#include "base/check.hpp"
#include "base/fixed_text.hpp"
#include "base/text.hpp"
#include "os/cgroup.hpp"
#include "program/base/libc.hpp"
#include "program/heap/rank_heaps.hpp"
#include "program/rank/rank_process.hpp"
#include "report/memory_rows.hpp"
#include "runtime/crash_report.hpp"
#include "runtime/rank_region.hpp"

namespace sorrel::runtime {

namespace {

// Set before any rank runs.
const JobView* job_of_heaps = nullptr;

std::int32_t number_of(std::size_t index) {
  SORREL_ASSERT(job_of_heaps != nullptr, "no rank has a heap");
  return job_of_heaps->number_at(index);
}

/// Memory of the machine, or what this process may have of it.
std::size_t machine_bytes() {
  std::size_t bytes = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                      static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  rlimit limit{};
  // Linux does not enforce it. Here it states what the user wants to be kept within.
  if (getrlimit(RLIMIT_RSS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    bytes = std::min<std::size_t>(bytes, limit.rlim_cur);
  if (const auto of_group = os::memory_limit()) bytes = std::min<std::size_t>(bytes, *of_group);
  return bytes;
}

const char* damage_text(heap::Damage damage) {
  switch (damage) {
    case heap::Damage::freed_twice:
      return "the block is freed a second time";
    case heap::Damage::not_a_block:
      return "no block of memory begins there";
    case heap::Damage::overwritten:
      break;
  }
  return "the word before it was overwritten, mostly by a write past the end of the block before; "
         "or no block of memory begins there";
}

void end_by_damage(int index, heap::Damage damage, const void* address) {
  FixedText<300> what;
  what.add("damage in the heap of rank ")
      .add(number_of(static_cast<std::size_t>(index)))
      .add(" at ");
  what.add_hex(reinterpret_cast<std::uintptr_t>(address)).add(": ").add(damage_text(damage));
  // A child ends alone, as without Sorrel.
  if (program::is_forked_child()) {
    what.add("\n");
    (void)!write(STDERR_FILENO, what.c_str(), what.text().size());
    std::abort();
  }
  const std::array<const void*, 1> left_out = {reinterpret_cast<const void*>(&end_by_damage)};
  end_with_backtrace(what.text(), left_out);
}

/// An interpreter of Python frees several times as much during its imports as it uses.
constexpr std::size_t kept_bytes_of_python = std::size_t{1} << 20;

bool runs_python() {
  return program::loader_dlsym()(RTLD_DEFAULT, "Py_BytesMain") != nullptr;
}

/// By place, a number for each group of ranks that may share large pages: those of one memory node,
/// and each rank that may go to another one alone. Empty: all may.
std::vector<int> page_groups(const JobView& job) {
  std::vector<int> groups;
  if (!job.scheduler().nodes().are_several()) return groups;
  groups.resize(static_cast<std::size_t>(job.place_count()));
  std::iota(groups.begin(), groups.end(), 0);
  for (const auto& world : job.worlds()) {
    if (world->balancer() != nullptr) continue;
    for (std::int32_t i = world->first_own_rank(); i < world->last_own_rank(); ++i) {
      const core::Worker& worker = world->worker(world->layout().endpoint_of(i).worker);
      // Below 0, where no place is.
      groups[job.index_of(i)] = -1 - job.scheduler().nodes().node_of(worker.index());
    }
  }
  return groups;
}

}  // namespace

void begin_rank_heaps(const Config& config, program::ImageSlab& slab, const JobView& job) {
  job_of_heaps = &job;
  // Under a host MPI it is not known how many of the job's processes are on this machine.
  const int rank_count = config.host != nullptr ? job.own_rank_count() : config.rank_count;
  SORREL_CHECK(rank_count > 0, "a process of %d ranks", rank_count);
  const std::size_t bytes = machine_bytes();
  const std::size_t kept_bytes = kept_bytes_of_rank(bytes, rank_count);
  // What imports have freed stays free, and large arrays get large pages from numpy.
  const bool is_small = runs_python();
  // It takes maps that heaps would.
  slab.use_large_pages(is_small ? 0 : static_bytes_of_rank(bytes, rank_count));
  const std::vector<int> groups = page_groups(job);
  program::rank_heaps().begin(
      slab, job.stacks(),
      {.band = rank_region(config).heaps,
       .rank_count = static_cast<std::size_t>(std::max(config.rank_count, config.universe_size)),
       .kept_bytes_max = kept_bytes,
       .kept_bytes_least = is_small ? kept_bytes_of_python : kept_bytes,
       .unused_bytes_max = is_small ? 0 : unused_bytes_of_rank(bytes, rank_count),
       .page_groups = groups,
       .on_damage = end_by_damage});
}

std::optional<report::RankMemory> heap_of_rank(std::size_t index) {
  const program::RankHeaps& heaps = program::rank_heaps();
  if (index >= heaps.count()) return std::nullopt;
  const heap::HeapUse use = heaps.use_of(index);
  // It has allocated nothing.
  if (use.footprint_max == 0) return std::nullopt;
  return report::RankMemory{.rank = number_of(index),
                            .in_use = use.in_use,
                            .held = use.footprint,
                            .most = use.footprint_max};
}

void print_memory() {
  std::vector<report::RankMemory> ranks;
  for (std::size_t i = 0; i < program::rank_heaps().count(); ++i) {
    if (const auto memory = heap_of_rank(i)) ranks.push_back(*memory);
  }
  const char* reason = program::rank_heaps().reason_for_none();
  const std::string text =
      reason == nullptr ? text_of("sorrel: note: %zu ranks have allocated memory\n", ranks.size()) +
                              report::memory_rows(ranks)
                        : text_of("sorrel: note: ranks use the C library's heap: %s\n", reason);
  (void)std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace sorrel::runtime
