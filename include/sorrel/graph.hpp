//! Task graphs, without MPI; graph/over_mpi.hpp is the part that needs MPI.
#pragma once

#include <sorrel/graph/field.hpp>
#include <sorrel/graph/graph.hpp>
#include <sorrel/graph/messenger.hpp>
#include <sorrel/graph/reduction.hpp>
#include <sorrel/graph/relation.hpp>
#include <sorrel/graph/space.hpp>
#include <sorrel/graph/sweep.hpp>
#include <sorrel/graph/tiling.hpp>
