//! ChunkPlan - how the iterations of a loop are cut into numbered chunks.
//!
//! Pure: a plan is computed from numbers alone, and chunk(i) from the plan and i alone, so the
//! thread that takes a number knows its iterations without communication. Any thread may call it.
//! The chunks are in order, never empty, and cover every iteration exactly once. A plan does not
//! assign chunks to threads (team/), but it is made for a caller that takes the lowest numbers and
//! helpers that take the highest: each finds in its cache what it used in the previous loop.
//! Decreasing chunks therefore are large at both ends, and small where the two meet, at the end of
//! the caller's equal share. Limits: chunk_count_max chunks; a grain that would need more is
//! raised.
//!
//! Source of the decreasing chunks: "factoring", Hummel, Schonberg, Flynn, CACM 35(8), 1992: rounds
//! of equal chunks, one for each thread that takes from that end, each round half of the rest.
//! Unlike in guided self-scheduling, the chunk of a number does not depend on which thread took the
//! others.
#pragma once

#include <cstdint>

#include "base/check.hpp"

namespace sorrel::loop {

/// Iterations begin, begin + 1, ... end - 1.
struct Iterations {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  [[nodiscard]] std::int64_t count() const { return end > begin ? end - begin : 0; }

  bool operator==(const Iterations&) const = default;
};

enum class Schedule : std::uint8_t {
  automatic,  ///< decreasing chunks, the smallest given by SplitOptions::tuned_grain
  fixed,      ///< one equal chunk per thread, or chunks of `grain` ("static" in OpenMP)
  dynamic,    ///< chunks of `grain`
  guided,     ///< decreasing chunks, the smallest `grain`
};

struct SplitOptions {
  Schedule schedule = Schedule::automatic;
  /// Iterations of the smallest chunk; 0: not given.
  std::int64_t grain = 0;
  /// Threads that may take part, at least 1.
  std::int32_t width = 1;
  /// Measured iterations per chunk, for decreasing chunks without a grain. No chunk is smaller, but
  /// a third of an equal share is always allowed. 0: unknown, then 1/32 of a share.
  std::int64_t tuned_grain = 0;
};

class ChunkPlan {
 public:
  static constexpr std::int32_t chunk_count_max = 1 << 18;

  ChunkPlan() = default;

  /// No iterations: no chunks.
  ChunkPlan(Iterations iterations, const SplitOptions& options);

  [[nodiscard]] std::int32_t count() const { return count_; }

  /// 0 <= index < count().
  [[nodiscard]] Iterations chunk(std::int32_t index) const;

  /// Whether a chunk may be run in several parts, because its exact size was not requested.
  [[nodiscard]] bool may_be_cut() const { return may_be_cut_; }

  /// Iterations of the smallest part that a chunk may be cut into.
  [[nodiscard]] std::int64_t part_size() const { return part_size_; }

 private:
  /// A length cut from one end: `rounds` rounds of `width` chunks, round r covering what lies
  /// between length - (length >> r) and length - (length >> r + 1), then chunks of the grain.
  struct End {
    std::int64_t length;
    std::int32_t width;
    std::int32_t rounds;
    std::int32_t count;
  };

  [[nodiscard]] End end_of(std::int64_t length, std::int32_t width, std::int32_t rounds) const;
  [[nodiscard]] Iterations chunk_from_end(const End& end, std::int32_t index) const;
  [[nodiscard]] std::int32_t round_count(std::int64_t length, std::int32_t width) const;
  [[nodiscard]] std::int64_t grain_of(std::int64_t tuned_grain) const;
  void plan_equal();
  void plan_grained(std::int64_t grain);
  void plan_decreasing(std::int64_t grain);

  std::int64_t begin_ = 0;
  std::int64_t length_ = 0;
  /// Iterations of a chunk, or of the smallest one. 0: count_ equal chunks.
  std::int64_t grain_ = 0;
  std::int32_t count_ = 0;
  std::int32_t part_size_ = 1;
  std::int32_t width_ = 1;
  std::int8_t caller_rounds_ = 0;
  std::int8_t helper_rounds_ = 0;
  bool is_decreasing_ = false;
  bool may_be_cut_ = false;
};

}  // namespace sorrel::loop
