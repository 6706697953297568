//! Defines the C bindings of a file twice: with int counts, and with MPI_Count for the names that
//! end in _c.
//!
//!   #define SORREL_BINDINGS "abi/pack_bindings.inc"
//!   #include "abi/both_counts.hpp"
//!
//! In the file, SORREL_BINDING(Pack) is PMPI_Pack or PMPI_Pack_c, SORREL_NAME(Pack) the name in
//! messages, SORREL_WEAK_BINDING(Pack) defines the weak MPI_ name. The types are Count (int or
//! MPI_Count), Displacement (int or MPI_Aint), Address (MPI_Aint or MPI_Count). Include this header
//! inside namespace sorrel::abi, once for each such file.

namespace int_counts {
using Count = int;
using Displacement = int;
using Address = MPI_Aint;
inline constexpr bool is_large = false;
#define SORREL_BINDING(name) PMPI_##name
#define SORREL_NAME(name) "MPI_" #name
#define SORREL_WEAK_BINDING(name) SORREL_WEAK_SAME(MPI_##name)
extern "C" {
#include SORREL_BINDINGS
}
#undef SORREL_BINDING
#undef SORREL_NAME
#undef SORREL_WEAK_BINDING
}  // namespace int_counts

namespace large_counts {
using Count = MPI_Count;
using Displacement = MPI_Aint;
using Address = MPI_Count;
inline constexpr bool is_large = true;
#define SORREL_BINDING(name) PMPI_##name##_c
#define SORREL_NAME(name) "MPI_" #name "_c"
#define SORREL_WEAK_BINDING(name) SORREL_WEAK_SAME(MPI_##name##_c)
extern "C" {
#include SORREL_BINDINGS
}
#undef SORREL_BINDING
#undef SORREL_NAME
#undef SORREL_WEAK_BINDING
}  // namespace large_counts

#undef SORREL_BINDINGS
