//! LibcState - what the C library keeps once per process and a program takes for its own: random
//! number generators, strtok's place, the results of localtime and asctime.
//!
//! Touched by the rank alone. Made at first use, since most ranks need none of it. The sequences
//! are the C library's own.
#pragma once

#include <cstdlib>
#include <ctime>
#include <memory>

namespace sorrel::program {

/// The state behind rand, random and srandom.
struct RandomState {
  RandomState();

  random_data generator{};
  char initial[128];  // the C library's default: TYPE_3, seeded with 1
};

struct TimeResults {
  tm broken_down{};
  char text[64] = {};
};

class LibcState {
 public:
  [[nodiscard]] random_data& random();
  [[nodiscard]] drand48_data& drand48();
  [[nodiscard]] TimeResults& time_results();

  [[nodiscard]] char*& strtok_position() { return strtok_position_; }

 private:
  std::unique_ptr<RandomState> random_;
  std::unique_ptr<drand48_data> drand48_;
  std::unique_ptr<TimeResults> time_results_;
  char* strtok_position_ = nullptr;
};

}  // namespace sorrel::program
