//! Machine files - a Machine as JSON, in which every number states its origin.
//!
//! A number is written {"value": 1.4e-6, "source": "...", "assumed": true}; a table has its rates
//! as [run, stride, set, bytes per second]. The files of machines/ are examples. A name that is
//! missing, unknown, or out of range is an error that names it.
#pragma once

#include <string>
#include <string_view>

#include <sorrel/grid/machine.hpp>
#include <sorrel/result.hpp>

namespace sorrel::grid {

[[nodiscard]] Result<Machine> parse_machine(std::string_view json);
[[nodiscard]] Result<Machine> load_machine(const std::string& path);

[[nodiscard]] std::string to_json(const Machine& machine);

/// Returns "" or the reason for the failure. Another process sees the old file or the whole new
/// one.
[[nodiscard]] std::string save_machine(const Machine& machine, const std::string& path);

}  // namespace sorrel::grid
