//! Sync - the atomics that the concurrent kernels are written over.
//!
//! A kernel (mailbox, parker) is a template over its Sync: StdSync in production, a modelled twin
//! under the Relacy model checker (tests/model). light_fence() and heavy_fence() are the two halves
//! of an asymmetric fence (os/memory_barrier).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "os/memory_barrier.hpp"

namespace sorrel::core {

enum class Order { relaxed, acquire, release, acq_rel, seq_cst };

struct StdSync {
  using Order = core::Order;

  static constexpr std::memory_order to_std(Order order) {
    switch (order) {
      case Order::relaxed:
        return std::memory_order_relaxed;
      case Order::acquire:
        return std::memory_order_acquire;
      case Order::release:
        return std::memory_order_release;
      case Order::acq_rel:
        return std::memory_order_acq_rel;
      case Order::seq_cst:
        break;
    }
    return std::memory_order_seq_cst;
  }

  template <class T>
  class Atomic {
   public:
    Atomic() = default;

    explicit Atomic(T value) : value_(value) {}

    [[nodiscard]] T load(Order order) const { return value_.load(to_std(order)); }

    void store(T value, Order order) { value_.store(value, to_std(order)); }

    T exchange(T value, Order order) { return value_.exchange(value, to_std(order)); }

    T fetch_add(T value, Order order) { return value_.fetch_add(value, to_std(order)); }

    bool compare_exchange(T& expected, T desired, Order success) {
      return value_.compare_exchange_strong(expected, desired, to_std(success),
                                            std::memory_order_relaxed);
    }

    std::atomic<T>& std_atomic() { return value_; }

   private:
    std::atomic<T> value_{};
  };

  /// A variable that is not atomic: the model checks that every access is ordered.
  template <class T>
  class Plain {
   public:
    [[nodiscard]] const T& get() const { return value_; }

    T& mutate() { return value_; }

   private:
    T value_{};
  };

  /// Plain bytes of which the two sides use disjoint parts: the model checks each part separately.
  template <std::uint32_t count>
  class PlainBytes {
   public:
    [[nodiscard]] const std::byte* read(std::uint32_t begin, std::uint32_t /*bytes*/) const {
      return bytes_.data() + begin;
    }

    std::byte* write(std::uint32_t begin, std::uint32_t /*bytes*/) { return bytes_.data() + begin; }

   private:
    std::array<std::byte, count> bytes_{};
  };

  static void light_fence() { os::light_barrier(); }

  static void heavy_fence() { os::heavy_barrier(); }
};

}  // namespace sorrel::core
