//! Results as files for ParaView: one VTU file a rank, and a PVTU file that names them.
#pragma once

#include <mpi.h>
#include <string>
#include <vector>

#include "chunk.hpp"

namespace fem {

/// Writes NAME.RANK.vtu, and NAME.pvtu by rank 0: the displacement of nodes, m; the stress (xx yy
/// zz xy yz zx) and von Mises' equivalent of elements, Pa; the rank. Collective. False on all ranks
/// if a file could not be written.
bool write_vtu(const std::string& name,
               const Chunk& chunk,
               const std::vector<Vector>& u,
               const std::vector<Symmetric>& stresses,
               MPI_Comm comm);

}  // namespace fem
