#include "omp/icv/binding.hpp"

#include <atomic>
#include <cstdio>
#include <string>

#include "governor/job_registry.hpp"
#include "omp/icv/environment.hpp"
#include "os/cpu_set.hpp"
#include "os/processors.hpp"
#include "os/shared_page.hpp"

namespace sorrel::omp {

namespace {

/// Null until it has been decided that threads are bound.
constinit std::atomic<const Binding*> binding_in_effect{nullptr};

bool has_peers(const std::vector<int>& cpus) {
  std::string trouble;
  governor::JobRegistry::Page* const page = governor::JobRegistry::map_page(trouble, nullptr);
  if (page == nullptr) return false;
  const governor::JobRegistry registry(page, os::own_process_identity(),
                                       governor::JobRegistry::mask_of(cpus));
  return registry.read(static_cast<std::uint32_t>(cpus.size()), 1).process_count > 1;
}

Binding make_binding(bool is_rank) {
  const Environment& own = environment();
  if (!own.requests_binding()) return {};
  Binding made{.places = {}, .binds = own.binds, .all_cpus = os::allowed_cpus()};
  const char* why = nullptr;
  if (is_rank) {
    why = "threads of ranks move between the allowed processors";
  } else if (own.loop_settings.limits.share != governor::Share::fixed && has_peers(made.all_cpus)) {
    why = "other jobs share the machine; with --share fixed threads are bound nevertheless";
  } else {
    made.places = find_places(own.places, os::allowed_processors());
    if (!made.is_on()) why = "no place has a processor that this process may use";
  }
  if (why != nullptr)
    std::fprintf(stderr, "sorrel: %s ignored: %s\n", own.binding_names.c_str(), why);
  return made;
}

}  // namespace

const Binding& binding(bool is_rank) {
  static const Binding own = make_binding(is_rank);
  // Release: for threads that have not called.
  if (own.is_on()) binding_in_effect.store(&own, std::memory_order_release);
  return own;
}

Unbound::Unbound() {
  const Binding* const own = binding_in_effect.load(std::memory_order_acquire);
  if (own == nullptr) return;
  before_ = os::allowed_cpus();
  os::set_allowed_cpus(0, own->all_cpus);
}

Unbound::~Unbound() {
  if (!before_.empty()) os::set_allowed_cpus(0, before_);
}

}  // namespace sorrel::omp
