//! CommandLine - options up to the program, then the program's own words, untouched.
//!
//! CLI11 holds the options and writes the help; the words are sorted here, because everything after
//! the program belongs to it byte for byte, and because MPI launchers have long options with one
//! dash (-np).
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/sorrel/command.hpp"

namespace sorrel::tool {

struct SplitWords {
  std::vector<std::string> options;  ///< each "--name" or "--name=value", ready for CLI11
  Arguments program;                 ///< the program and its words; empty if none was named
  std::string problem;  ///< what is wrong, one line without "sorrel: "; "" if nothing is
};

/// Sorts `arguments` by the options of `app`. Unknown options are a problem, with the near match
/// named.
[[nodiscard]] SplitWords split_words(CLI::App& app, Arguments arguments);

/// Parses into the variables bound to `app`. Prints the help or the complaint itself: a value is
/// the exit status to leave with, nothing means go on.
[[nodiscard]] std::optional<int> parse_words(CLI::App& app,
                                             const std::vector<std::string>& options);

/// An App with the house's manners: long help with examples in the footer, last of repeated options
/// wins.
[[nodiscard]] std::unique_ptr<CLI::App> make_app(const std::string& usage,
                                                 const std::string& description,
                                                 const std::string& footer);

}  // namespace sorrel::tool
