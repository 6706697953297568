#include "tools/sorrel/checkpoint/restarts.hpp"

#include <algorithm>
#include <csignal>
#include <fmt/core.h>
#include <new>

#include "tools/sorrel/checkpoint/newest_checkpoint.hpp"
#include "tools/sorrel/common/diagnostic.hpp"

namespace sorrel::tool {

namespace {

using launch::RestartNote;

// Before the second restart with the same checkpoint; doubled before each further one.
constexpr std::int64_t pause_ns_min = 100'000'000;
constexpr std::int64_t pause_ns_max = 10'000'000'000;

constexpr const char* cure = "; --every TIME, or calls of sorrel_checkpoint(), save the job";

/// Whether users, batch systems and the system send this signal to a process that has done nothing
/// wrong. The system sends SIGKILL when memory is exhausted.
bool comes_from_outside(int signal) {
  return signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP ||
         signal == SIGQUIT;
}

/// Before that restart, counted from 1, with one checkpoint.
std::int64_t pause_ns(std::uint32_t number) {
  if (number < 2) return 0;
  constexpr std::uint32_t doublings_max = 10;
  return std::min(pause_ns_min << std::min(number - 2, doublings_max), pause_ns_max);
}

}  // namespace

Restarts::Restarts(std::unique_ptr<const checkpoint::GenerationStore> store,
                   std::uint64_t count_max,
                   std::uint64_t begin)
    : store_(std::move(store)),
      count_max_(count_max),
      segment_(count_max == 0 ? os::SharedSegment()
                              : os::SharedSegment::create(sizeof(RestartNote))),
      generation_(begin) {
  if (segment_.is_valid()) new (segment_.base()) RestartNote;
}

std::optional<int> Restarts::note_descriptor() const {
  return segment_.is_valid() ? std::optional(segment_.descriptor()) : std::nullopt;
}

RestartNote& Restarts::note() const {
  return *std::launder(reinterpret_cast<RestartNote*>(segment_.base()));
}

std::string Restarts::choose_next(int signal) {
  const bool is_own = !comes_from_outside(signal) || note().own_signal() == signal;
  const std::string effect = note().effect();
  new (segment_.base()) RestartNote;
  if (count_ == count_max_)
    return fmt::format("it has been {} time{} (--restarts)", count_, count_ == 1 ? "" : "s");
  const Result<std::uint64_t> newest = newest_checkpoint(*store_);
  if (!newest.has_value()) return newest.error();
  const std::uint64_t generation = newest.value();
  if (generation == 0 && !effect.empty())
    return fmt::format("it has no checkpoint: {}{}", effect, cure);
  if (is_own && own_death_ == generation) {
    return generation == 0
               ? std::string("a process has ended itself twice before the first checkpoint")
               : fmt::format("a process has ended itself twice after checkpoint {}", generation);
  }
  if (is_own) own_death_ = generation;
  same_count_ = generation == generation_ ? same_count_ + 1 : 1;
  generation_ = generation;
  ++count_;
  return "";
}

std::optional<std::int64_t> Restarts::begin_next(int signal) {
  if (const std::string reason = choose_next(signal); !reason.empty()) {
    print_diagnostic("the job is not restarted: " + reason);
    return std::nullopt;
  }
  const std::int64_t pause = pause_ns(same_count_);
  const std::string what =
      generation_ == 0 ? std::string("the job begins again, since no rank has left MPI_Init")
                       : fmt::format("the job goes on from checkpoint {}", generation_);
  const std::string when =
      pause == 0 ? "" : fmt::format(" after {:.1f} s", static_cast<double>(pause) * 1e-9);
  print_diagnostic(fmt::format("{}{}: restart {} of at most {}", what, when, count_, count_max_));
  return pause;
}

}  // namespace sorrel::tool
