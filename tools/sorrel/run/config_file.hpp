//! ConfigFile - options of `sorrel run` that the user keeps in a file.
//!
//! Each line is an option by its long name, without the dashes: `workers = 2`; a flag is `label` or
//! `label = true`. CLI11's own reader is not used: it divides values at commas, which --wire and
//! --shared contain, and skips what it does not understand.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include <sorrel/result.hpp>

namespace sorrel::tool {

struct ConfigFile {
  std::string path;                  ///< "" if there is none
  std::vector<std::string> options;  ///< as those of SplitArguments
};

/// The file that SORREL_CONFIG names, else sorrel/config in $XDG_CONFIG_HOME or ~/.config, if it
/// exists. An empty SORREL_CONFIG means none. `app` says which options there are.
[[nodiscard]] Result<ConfigFile> read_config_file(CLI::App& app);

/// The options in `text`. Errors begin with `path` and the line.
[[nodiscard]] Result<std::vector<std::string>> parse_config(CLI::App& app,
                                                            std::string_view text,
                                                            const std::string& path);

}  // namespace sorrel::tool
