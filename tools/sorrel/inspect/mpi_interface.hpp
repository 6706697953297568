//! MpiInterface - another MPI's binary interface, told by the names of its libraries.
#pragma once

#include <string_view>

namespace sorrel::tool {

/// An interface that Sorrel translates (src/translate).
struct MpiInterface {
  std::string_view name;    ///< "Open MPI"
  std::string_view family;  ///< of its libraries: the folder below lib/translate
};

/// The interface of which Sorrel has a library of this name; null: it has none.
[[nodiscard]] const MpiInterface* translated_interface(std::string_view soname);

/// "Open MPI's Fortran interface" for "libmpi_mpifh.so.40", and so on; "" if `soname` is not a
/// library of another MPI, or one that Sorrel translates.
[[nodiscard]] std::string_view foreign_mpi(std::string_view soname);

/// Whether several MPIs have a library of this name, so that another library decides which it is.
[[nodiscard]] bool is_shared_name(std::string_view soname);

/// Whether a symbol of this name belongs to MPI in C or Fortran. `is_translated`: or to the
/// libraries of another MPI, of whose names Sorrel has some.
[[nodiscard]] bool is_mpi_name(std::string_view name, bool is_translated);

/// Whether a library of this name has the classes of MPICH's C++ bindings. Sorrel's library of the
/// name has none: the MPI's own one works over the translation of the functions in C.
[[nodiscard]] bool has_classes(std::string_view soname);

/// Whether a symbol of this name belongs to the classes of the C++ bindings.
[[nodiscard]] bool is_class_name(std::string_view name);

}  // namespace sorrel::tool
