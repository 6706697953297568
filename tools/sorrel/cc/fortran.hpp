//! The Fortran wrapper's part: which gfortran, and its modules.
//!
//! A module file belongs to a version of gfortran. Those of the version that has built Sorrel are
//! installed; for another version the wrapper makes them at first use, in the user's cache folder.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <sorrel/result.hpp>

#include "tools/sorrel/cc/compile.hpp"
#include "tools/sorrel/common/installation.hpp"

namespace sorrel::tool {

/// The version in the first line of `gfortran --version`; "" if it is another compiler's.
[[nodiscard]] std::string gfortran_version(const std::string& first_line);

/// What `sorrel fc` adds to the arguments of this compiler.
[[nodiscard]] Result<WrapperFlags> fortran_flags(const std::vector<std::string>& compiler,
                                                 const Installation& installation);

/// One line: why a Fortran argument of the user cannot work; "" if all can.
[[nodiscard]] std::string fortran_argument_error(std::span<const std::string> words);

}  // namespace sorrel::tool
