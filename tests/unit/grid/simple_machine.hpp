//! A machine with round numbers, in which every term of the model can be tested separately.
#pragma once

#include <sorrel/grid/machine.hpp>

namespace sorrel::grid {

/// A gigaflop per second, a GB/s everywhere; no costs per row, message or poll.
inline Machine simple_machine() {
  Machine machine;
  machine.name = "simple";
  machine.flops_per_second = 1e9;
  machine.memory = {{.size_bytes = 0, .bytes_per_second = 1e9}};
  machine.copy.rates = {
      {.run_bytes = 8, .stride_bytes = 64, .set_bytes = 0, .bytes_per_second = 1e9}};
  Link link;
  link.name = "wire";
  link.gap_s_per_byte = 1e-9;
  machine.links = {link};
  return machine;
}

}  // namespace sorrel::grid
