//! CommandLine - options up to the program, then the program's own arguments, unchanged.
//!
//! CLI11 holds the options and writes the help. The arguments are split here for two reasons: all
//! that follows the program belongs to it byte for byte, and MPI launchers have long options with
//! one dash (-np).
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/sorrel/common/command.hpp"

namespace sorrel::tool {

struct SplitArguments {
  std::vector<std::string> options;  ///< each "--name" or "--name=value", ready for CLI11
  Arguments program;  ///< the program and its arguments; empty if no program was given
  std::string error;  ///< one line without "sorrel: "; "" if there is no error
};

/// Splits `arguments` by the options of `app`. An unknown option is an error; the message names
/// the nearest match.
[[nodiscard]] SplitArguments split_arguments(CLI::App& app, Arguments arguments);

/// Options and operands in any order, for commands that start no program. Returns an error, or "".
[[nodiscard]] std::string sort_arguments(CLI::App& app,
                                         Arguments arguments,
                                         std::vector<std::string>& options,
                                         std::vector<std::string>& operands);

/// Parses into the variables bound to `app`, and prints the help or the error itself. Returns the
/// exit status, or nothing if the command continues.
[[nodiscard]] std::optional<int> parse_options(CLI::App& app,
                                               const std::vector<std::string>& options);

/// An App with the conventions of this command: long help with examples in the footer; the last
/// of repeated options wins.
[[nodiscard]] std::unique_ptr<CLI::App> make_app(const std::string& usage,
                                                 const std::string& description,
                                                 const std::string& footer);

}  // namespace sorrel::tool
