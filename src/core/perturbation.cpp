#include "core/perturbation.hpp"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "arch/cpu.hpp"
#include "base/cache_line.hpp"
#include "base/prng.hpp"
#include "os/clock.hpp"
#include "os/futex.hpp"
#include "os/kept_errno.hpp"
#include "os/thread.hpp"

#ifdef SORREL_PERTURBED

namespace sorrel::core {

namespace {

/// Points after which a worker changes its manner.
constexpr std::uint64_t points_per_manner = 256;
constexpr std::uint32_t strength_max = 9;
constexpr std::size_t worker_count_max = 4096;

enum class Manner : std::uint8_t {
  calm,
  often_short,     ///< A few microseconds at one point of four.
  often_yielding,  ///< The core goes to another thread at one point of eight.
  rarely_long,     ///< Up to milliseconds at one point of 32.
  late_at_one,     ///< Up to half a millisecond at one point of two of one kind.
  count
};

struct Settings {
  std::uint64_t seed = 0;
  std::uint32_t strength = 0;  ///< 0: nothing is perturbed.
};

Settings read_settings() {
  const char* text = std::getenv("SORREL_PERTURB");
  if (text == nullptr || *text == '\0') return {};
  char* end = nullptr;
  Settings settings{.seed = std::strtoull(text, &end, 10), .strength = 3};
  bool is_right = end != text;
  if (*end == ',') {
    const char* strength = end + 1;
    settings.strength = static_cast<std::uint32_t>(std::strtoul(strength, &end, 10));
    is_right = is_right && end != strength;
  }
  if (!is_right || *end != '\0' || settings.strength == 0 || settings.strength > strength_max) {
    std::fprintf(stderr, "sorrel: SORREL_PERTURB=%s: must be SEED or SEED,STRENGTH, of 1 to %u\n",
                 text, strength_max);
    std::exit(2);
  }
  // At the start, since a job that hangs or is killed prints nothing at its end.
  std::fprintf(stderr, "sorrel: perturbed: SORREL_PERTURB=%llu,%u\n",
               static_cast<unsigned long long>(settings.seed), settings.strength);
  return settings;
}

/// Read when the library is loaded: signal handlers wake workers, too.
const Settings settings = read_settings();

/// Decisions of a worker so far. Relaxed: a guest and the worker's thread may count at once.
struct alignas(cache_line_bytes) Decisions {
  std::atomic<std::uint64_t> count{0};
};

std::array<Decisions, worker_count_max> decisions;

/// The random numbers of one decision, and the manner in which the worker makes it.
struct Decision {
  Manner manner;
  PerturbedPoint late_point;
  Prng prng;
};

Decision next_decision(WorkerId worker) {
  const std::uint64_t number =
      decisions[worker % worker_count_max].count.fetch_add(1, std::memory_order_relaxed);
  const std::uint64_t stream = (settings.seed << 16) + worker;
  Prng of_manner(Prng(stream).next() + number / points_per_manner);
  const auto manner =
      static_cast<Manner>(of_manner.below(static_cast<std::uint64_t>(Manner::count)));
  const auto late_point = static_cast<PerturbedPoint>(
      of_manner.below(static_cast<std::uint64_t>(PerturbedPoint::count)));
  return {
      .manner = manner, .late_point = late_point, .prng = Prng(Prng(stream + 1).next() + number)};
}

void lose(std::uint64_t ns) {
  const std::int64_t end_ns = os::monotonic_ns() + static_cast<std::int64_t>(ns);
  while (os::monotonic_ns() < end_ns)
    arch::pause();
}

/// Without the core.
void sleep(std::uint64_t ns) {
  std::atomic<std::uint32_t> nothing{0};
  os::futex_wait(nothing, 0, static_cast<std::int64_t>(ns));
}

bool is_perturbed() {
  return settings.strength != 0;
}

}  // namespace

void perturb(WorkerId worker, PerturbedPoint point) {
  if (!is_perturbed()) return;
  // That of the code that is delayed.
  const os::KeptErrno kept;
  Decision decision = next_decision(worker);
  const std::uint64_t strength = settings.strength;
  switch (decision.manner) {
    case Manner::often_short:
      if (decision.prng.below(4) == 0) lose(decision.prng.below(1'000 * strength));
      break;
    case Manner::often_yielding:
      // On a busy machine it comes back after tens of milliseconds.
      if (decision.prng.below(8) == 0) os::yield_core();
      break;
    case Manner::rarely_long:
      if (decision.prng.below(32) == 0) sleep(decision.prng.below(500'000 * strength));
      break;
    case Manner::late_at_one:
      if (point == decision.late_point && decision.prng.below(2) == 0)
        sleep(decision.prng.below(150'000 * strength));
      break;
    case Manner::calm:
    case Manner::count:
      break;
  }
}

bool perturbs_choice(WorkerId worker) {
  if (!is_perturbed()) return false;
  Decision decision = next_decision(worker);
  return decision.manner != Manner::calm && decision.prng.below(8) == 0;
}

std::uint32_t perturbed_index(WorkerId worker, std::uint32_t bound) {
  if (!is_perturbed()) return 0;
  Decision decision = next_decision(worker);
  if (decision.manner == Manner::calm || decision.prng.below(4) != 0) return 0;
  return static_cast<std::uint32_t>(decision.prng.below(bound));
}

}  // namespace sorrel::core

#endif
