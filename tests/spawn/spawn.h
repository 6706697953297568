//! Common functions of the tests of ranks that are spawned.
#pragma once

#include "../mpi/check.h"

MAY_BE_UNUSED static int class_of(int error) {
  int error_class;
  MPI_Error_class(error, &error_class);
  return error_class;
}

MAY_BE_UNUSED static MPI_Comm parent_of_world(void) {
  MPI_Comm parent;
  MPI_Comm_get_parent(&parent);
  return parent;
}

/// The number of ranks in the remote group of an intercommunicator.
MAY_BE_UNUSED static int remote_size_of(MPI_Comm comm) {
  int size;
  MPI_Comm_remote_size(comm, &size);
  return size;
}

/// The value of a predefined attribute of MPI_COMM_WORLD.
MAY_BE_UNUSED static int attribute_of_world(int keyval) {
  int* value = NULL;
  int flag = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, &value, &flag);
  CHECK_EQUAL(flag, 1);
  return *value;
}
