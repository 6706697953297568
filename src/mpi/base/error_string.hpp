//! Error texts - the name of each error class of the standard, and one sentence about it.
//!
//! Any thread, at any time, also before MPI_Init and in a signal handler: constant strings, no
//! state. Does not know the classes and codes that a program adds; the owner of those calls
//! is_error_class() first.
#pragma once

namespace sorrel::mpi {

/// Whether the standard defines this class. MPI_SUCCESS is one; MPI_ERR_LASTCODE is only a bound.
bool is_error_class(int error_class);

/// "MPI_ERR_RANK". Any other number gets the name of MPI_ERR_UNKNOWN.
const char* error_name(int error_class);

/// "MPI_ERR_RANK: invalid rank", shorter than MPI_MAX_ERROR_STRING. Any other number gets the text
/// of MPI_ERR_UNKNOWN.
const char* error_string(int error_class);

}  // namespace sorrel::mpi
