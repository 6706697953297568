//! The bodies of the C bindings, one for each function of functions.txt that is not absent or
//! `own` and names no other body.
//!
//! A body runs in the frame of its binding (call.hpp), after the checks that all functions have in
//! common: pointers that it writes through are not null, `comm`, groups and datatypes that it reads
//! are valid, a root is a rank. It serves both forms of the function: counts are MPI_Count, arrays
//! of them mpi::Integers, variables for them mpi::IntegerPointer. What describes a message is one
//! argument (user_arguments.hpp). It returns MPI_SUCCESS or an error class.
#pragma once

#include "abi/call.hpp"
#include "abi/user_arguments.hpp"
#include "mpi/comm/group_algebra.hpp"
#include "mpi/comm/topology/cart.hpp"
#include "mpi/match/environment_info.hpp"

namespace sorrel::mpi {
class Datatype;
class DistGraphTopology;
class GraphTopology;
}  // namespace sorrel::mpi

namespace sorrel::abi {
struct ToolState;
}  // namespace sorrel::abi

namespace sorrel::abi::body {

// Written by make_bindings.py.
#include "abi_bodies.inc"

}  // namespace sorrel::abi::body
