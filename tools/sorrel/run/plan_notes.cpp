#include "tools/sorrel/run/plan_notes.hpp"

#include <fmt/format.h>

#include "os/cpu_set.hpp"

namespace sorrel::tool {

namespace {

/// How messages travel between processes.
std::string describe_transport(const RunPlan& plan) {
  if (!plan.host.name.empty())
    return fmt::format("between machines through {}, on a machine through shared memory",
                       plan.host.name);
  if (plan.job.process_count > 1) return "between processes through shared memory";
  return "within one process";
}

std::string describe_wire(const launch::WireSpec& wire) {
  std::string text = fmt::format("{} simulated nodes, latency {} us", wire.node_count,
                                 static_cast<double>(wire.latency_ns) * 1e-3);
  if (wire.jitter_ns != 0)
    text += fmt::format(", jitter up to {} us", static_cast<double>(wire.jitter_ns) * 1e-3);
  text += wire.bytes_per_second == 0 ? std::string(", any bandwidth")
                                     : fmt::format(", {:g} GB/s", wire.bytes_per_second * 1e-9);
  return text;
}

std::string describe_threads(const RunPlan& plan) {
  if (plan.has_room_for_threads) return "user-level threads, on as many cores as are free";
  return plan.job.process_mode ? "user-level threads on the core of their rank"
                               : "user-level threads on the worker of their rank";
}

const char* words_of(launch::Balance balance) {
  switch (balance) {
    case launch::Balance::off:
      return "off";
    case launch::Balance::steal:
      return "steal: idle workers run computations of other ranks";
    case launch::Balance::automatic:
      return "auto: as measured, from when the job turns out to be uneven";
    case launch::Balance::measured:
      return "measured: idle workers run computations of other ranks, and ranks move";
  }
  return "";
}

}  // namespace

std::string describe(const launch::PartSpec& part) {
  return fmt::format("{} ranks in {} process{} of {} worker{}", part.rank_count, part.process_count,
                     part.process_count == 1 ? "" : "es", part.worker_count,
                     part.worker_count == 1 ? "" : "s");
}

std::vector<std::string> notes_on(const RunPlan& plan, bool has_threads) {
  const std::string place =
      plan.cpus.empty() ? "not bound" : "on cpus " + os::format_cpu_list(plan.cpus);
  std::vector<std::string> notes;
  notes.push_back(plan.job.parts.empty()
                      ? fmt::format("{}, {}", describe(launch::parts_of(plan.job).front()), place)
                      : fmt::format("{} programs, {}", plan.job.parts.size(), place));
  if (plan.choice) notes.push_back("--procs auto: " + describe(*plan.choice));
  notes.push_back("messages: " + describe_transport(plan));
  if (plan.job.wire) notes.push_back("network: " + describe_wire(*plan.job.wire));
  if (has_threads) notes.push_back("OpenMP: " + describe_threads(plan));
  notes.push_back(fmt::format("balance: {}{}", words_of(plan.job.balance),
                              plan.job.moves_between ? ", also between processes" : ""));
  notes.push_back("share: " + (plan.share.empty()
                                   ? std::string("fair, unless SORREL_SHARE says otherwise")
                                   : plan.share));
  return notes;
}

}  // namespace sorrel::tool
