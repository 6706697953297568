//! FindingKinds - what `sorrel run --check` can find: for each kind, how serious it is and what the
//! standard says. The library names kinds by these texts (src/check).
#pragma once

#include <string_view>

namespace sorrel::tool {

struct FindingKind {
  const char* name;
  bool is_error;        ///< else a warning: the program works, and wastes something
  const char* section;  ///< of MPI 5.0
  const char* rule;     ///< what the standard says there
};

/// The kind of a name; a kind without section for an unknown name.
[[nodiscard]] const FindingKind& finding_kind(std::string_view name);

}  // namespace sorrel::tool
