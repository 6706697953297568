//! Writes the C faces of a file twice: with int counts, and with MPI_Count for the names that end
//! in _c.
//!
//!   #define SORREL_FACES "abi/pack_faces.inc"
//!   #include "abi/both_counts.hpp"
//!
//! The file says SORREL_FACE(Pack) for PMPI_Pack or PMPI_Pack_c, SORREL_NAME(Pack) for the name
//! that messages show, SORREL_WEAK_FACE(Pack) for the weak MPI_ name; and the types Count (int or
//! MPI_Count), Displacement (int or MPI_Aint), Address (MPI_Aint or MPI_Count). To be included
//! inside namespace sorrel::abi, once for each such file.

namespace int_counts {
using Count = int;
using Displacement = int;
using Address = MPI_Aint;
inline constexpr bool is_large = false;
#define SORREL_FACE(name) PMPI_##name
#define SORREL_NAME(name) "MPI_" #name
#define SORREL_WEAK_FACE(name) SORREL_WEAK_SAME(MPI_##name)
extern "C" {
#include SORREL_FACES
}
#undef SORREL_FACE
#undef SORREL_NAME
#undef SORREL_WEAK_FACE
}  // namespace int_counts

namespace large_counts {
using Count = MPI_Count;
using Displacement = MPI_Aint;
using Address = MPI_Count;
inline constexpr bool is_large = true;
#define SORREL_FACE(name) PMPI_##name##_c
#define SORREL_NAME(name) "MPI_" #name "_c"
#define SORREL_WEAK_FACE(name) SORREL_WEAK_SAME(MPI_##name##_c)
extern "C" {
#include SORREL_FACES
}
#undef SORREL_FACE
#undef SORREL_NAME
#undef SORREL_WEAK_FACE
}  // namespace large_counts

#undef SORREL_FACES
