//! ModelSync - the twin of core::StdSync under the Relacy model checker, with one order weakened.
//!
//! A kernel of src/core is written over its Sync; here each load, store and fence of it is a step
//! that Relacy schedules, and each plain access is checked for being ordered. A `Weakened` names
//! the one order that is taken away: a model must fail with it, or the order was never needed (or
//! the model does not look). Include last: Relacy makes macros of new and delete.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ostream>
#include <relacy/relacy.hpp>  // Must stay behind the others.
#include <type_traits>

#include "core/sync.hpp"

namespace sorrel::model {

using core::Order;

/// Which atomics of a kernel: told apart by the type of their values.
enum class Cell : std::uint8_t { none, u32, i32, u64, pointer };

template <class T>
constexpr Cell cell_of() {
  if constexpr (std::is_pointer_v<T>) {
    return Cell::pointer;
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    return Cell::u64;
  } else if constexpr (std::is_same_v<T, std::int32_t>) {
    return Cell::i32;
  } else {
    return Cell::u32;
  }
}

struct Weakened {
  /// On these atomics, this order becomes relaxed.
  Cell cell = Cell::none;
  Order order = Order::relaxed;
  bool without_light_fence = false;
  bool without_heavy_fence = false;
  /// The counting out that belongs before an exchange comes after it.
  bool with_late_counting = false;

  constexpr bool operator==(const Weakened&) const = default;
};

template <Cell cell, Order order>
inline constexpr Weakened relaxed{.cell = cell, .order = order};

/// Relacy runs read-modify-writes in program order, so a change of their order cannot show in their
/// values. `watch_count` makes it show as a data race: counting out writes a plain variable, and
/// the relaxed counting in, and order_is_kept(), read it.
template <Weakened weakened, bool watch_count = false>
struct ModelSync {
  using Order = core::Order;

  template <class T>
  class Atomic {
   public:
    Atomic() : Atomic(T{}) {}

    explicit Atomic(T value) : value_(value) {
      if constexpr (is_watched) counted_out_($).store(0);
      if constexpr (std::is_same_v<T, std::int32_t>) late_counts() = {};
    }

    T load(Order order) const { return value_($).load(of(order)); }

    void store(T value, Order order) { value_($).store(value, of(order)); }

    T exchange(T value, Order order) {
      const T before = value_($).exchange(value, of(order));
      if constexpr (weakened.with_late_counting && std::is_same_v<T, std::uint32_t>) {
        if (auto*& count = late_counts()[rl::thread_index()]; count != nullptr) {
          count->count_out();
          count = nullptr;
        }
      }
      return before;
    }

    T fetch_add(T value, Order order) {
      if constexpr (weakened.with_late_counting && std::is_same_v<T, std::int32_t>) {
        if (value < 0) {
          late_counts()[rl::thread_index()] = this;
          return 0;
        }
      }
      if constexpr (is_watched) {
        if (value < 0) counted_out_($).store(1);
        if (value > 0 && order == Order::relaxed) order_is_kept();
      }
      return value_($).fetch_add(value, of(order));
    }

    bool compare_exchange(T& expected, T desired, Order success) {
      return value_($).compare_exchange_strong(expected, desired, of(success), rl::mo_relaxed);
    }

    /// The caller knows that it has been counted out; fails when that is not ordered before.
    void order_is_kept() const { static_cast<void>(counted_out_($).load()); }

    void count_out() { value_($).fetch_add(-1, rl::mo_relaxed); }

   private:
    static constexpr bool is_watched = watch_count && std::is_same_v<T, std::int32_t>;

    static rl::memory_order of(Order order) {
      if (cell_of<T>() == weakened.cell && order == weakened.order) return rl::mo_relaxed;
      switch (order) {
        case Order::relaxed:
          return rl::mo_relaxed;
        case Order::acquire:
          return rl::mo_acquire;
        case Order::release:
          return rl::mo_release;
        case Order::acq_rel:
          return rl::mo_acq_rel;
        case Order::seq_cst:
          break;
      }
      return rl::mo_seq_cst;
    }

    mutable rl::atomic<T> value_;
    mutable rl::var<int> counted_out_;
  };

  template <class T>
  class Plain {
   public:
    Plain() { access_($).store(0); }

    [[nodiscard]] const T& get() const {
      static_cast<void>(access_($).load());
      return value_;
    }

    T& mutate() {
      access_($).store(0);
      return value_;
    }

   private:
    T value_{};
    mutable rl::var<int> access_;
  };

  template <std::uint32_t count>
  class PlainBytes {
   public:
    PlainBytes() {
      for (auto& access : accesses_)
        access($).store(0);
    }

    [[nodiscard]] const std::byte* read(std::uint32_t begin, std::uint32_t bytes) const {
      for (std::uint32_t at = begin; at < begin + bytes; at += grain)
        static_cast<void>(accesses_[at / grain]($).load());
      return bytes_.data() + begin;
    }

    std::byte* write(std::uint32_t begin, std::uint32_t bytes) {
      for (std::uint32_t at = begin; at < begin + bytes; at += grain)
        accesses_[at / grain]($).store(0);
      return bytes_.data() + begin;
    }

   private:
    static constexpr std::uint32_t grain = 16;
    std::array<std::byte, count> bytes_{};
    mutable std::array<rl::var<int>, count / grain> accesses_;
  };

  static void light_fence() {
    if (!weakened.without_light_fence) rl::atomic_thread_fence(rl::mo_seq_cst, $);
  }

  static void heavy_fence() {
    if (!weakened.without_heavy_fence) rl::atomic_thread_fence(rl::mo_seq_cst, $);
  }

 private:
  using LateCounts = std::array<Atomic<std::int32_t>*, 4>;

  /// The count that a modelled thread has yet to count down; indexed by the thread.
  static LateCounts& late_counts() {
    static LateCounts counts{};
    return counts;
  }
};

/// Runs models and keeps the verdict.
class Checker {
 public:
  /// Every schedule with up to `context_bound` preemptions.
  explicit Checker(unsigned context_bound) : context_bound_(context_bound) {}

  template <class Model>
  void must_hold(const char* name) {
    report(name, run<Model>(), true);
  }

  template <class Model>
  void must_be_caught(const char* name) {
    report(name, run<Model>(), false);
  }

  /// The exit status of the program.
  [[nodiscard]] int status() const { return failure_count_ == 0 ? 0 : 1; }

 private:
  struct Outcome {
    rl::test_result_e result;
    std::uint64_t schedule_count;
  };

  template <class Model>
  Outcome run() const {
    std::ostream silent(nullptr);
    rl::test_params params;
    params.search_type = rl::sched_bound;
    params.context_bound = context_bound_;
    params.execution_depth_limit = 400;
    params.output_stream = &silent;
    params.progress_stream = &silent;
    rl::simulate<Model>(params);
    return {params.test_result, params.stop_iteration};
  }

  void report(const char* name, Outcome outcome, bool must_hold) {
    const bool is_right = (outcome.result == rl::test_result_success) == must_hold;
    std::printf("%-7s %-56s %s after %llu schedules\n", is_right ? "ok" : "WRONG", name,
                rl::test_result_str(outcome.result),
                static_cast<unsigned long long>(outcome.schedule_count));
    std::fflush(stdout);
    if (!is_right) ++failure_count_;
  }

  unsigned context_bound_;
  int failure_count_ = 0;
};

}  // namespace sorrel::model
