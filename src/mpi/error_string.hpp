//! Error texts - the name of each error class of the standard, and one sentence about it.
//!
//! Any thread, at any time, before MPI_Init and in a signal handler too: constant strings, no
//! state. Knows nothing of the classes and codes that a program adds; who keeps those asks
//! is_error_class() first.
#pragma once

namespace sorrel::mpi {

/// Whether the standard defines this class. MPI_SUCCESS is one; MPI_ERR_LASTCODE is only a bound.
bool is_error_class(int error_class);

/// "MPI_ERR_RANK". What is no class of the standard gets the name of MPI_ERR_UNKNOWN.
const char* error_name(int error_class);

/// "MPI_ERR_RANK: invalid rank", shorter than MPI_MAX_ERROR_STRING. What is no class of the
/// standard gets the text of MPI_ERR_UNKNOWN.
const char* error_string(int error_class);

}  // namespace sorrel::mpi
