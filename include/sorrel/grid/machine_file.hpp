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

/// @param json the contents of a machine file
/// @return the machine, or the name of what is missing, unknown or out of range
[[nodiscard]] Result<Machine> parse_machine(std::string_view json);

/// @param path of a machine file
/// @return the machine, or why it cannot be read
[[nodiscard]] Result<Machine> load_machine(const std::string& path);

/// @param machine any numbers
/// @return the contents of a machine file
[[nodiscard]] std::string to_json(const Machine& machine);

/// Writes a machine file. Another process sees the old file or the whole new one.
///
/// @param machine may have errors, which load_machine() then finds
/// @param path of the file; PATH.new is written first
/// @return success, or the file that cannot be written
Result<void> save_machine(const Machine& machine, const std::string& path);

}  // namespace sorrel::grid
