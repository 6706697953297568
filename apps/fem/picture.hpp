//! The surface of the body as an SVG: above coloured by von Mises' stress, below by rank.
#pragma once

#include <mpi.h>
#include <string>
#include <vector>

#include "chunk.hpp"
#include "cut.hpp"

namespace fem {

/// Collective: rank 0, which passes the mesh and the cut, gathers the stresses of all elements and
/// writes. The other ranks pass null. False on all ranks if the file could not be written.
bool write_picture(const std::string& path,
                   const Mesh* mesh,
                   const Cut* cut,
                   const Chunk& chunk,
                   const std::vector<Symmetric>& stresses,
                   MPI_Comm comm);

}  // namespace fem
