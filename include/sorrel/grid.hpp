//! Partition of a regular grid over ranks, without MPI; halo.hpp, measure.hpp and verify.hpp are
//! the parts that need MPI.
#pragma once

#include <sorrel/grid/machine.hpp>
#include <sorrel/grid/machine_file.hpp>
#include <sorrel/grid/multigrid_plan.hpp>
#include <sorrel/grid/plan.hpp>
#include <sorrel/grid/problem.hpp>
