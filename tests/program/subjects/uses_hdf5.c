// HDF5 counts the open objects of a process, and brings about 30 libraries.
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, value = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char name[200];
  snprintf(name, sizeof name, "%s.%d.%d", argv[1], getpid(), rank);
  const hsize_t count = 1;
  hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  hid_t space = H5Screate_simple(1, &count, NULL);
  hid_t set =
      H5Dcreate2(file, "rank", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  int is_right = H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &rank) >= 0;
  MPI_Barrier(MPI_COMM_WORLD);
  is_right = is_right && H5Dread(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value) >= 0;
  is_right = is_right && H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL) == 2;
  H5Dclose(set);
  H5Sclose(space);
  H5Fclose(file);
  unlink(name);
  if (is_right && value == rank) printf("library of rank %d is its own\n", rank);
  MPI_Finalize();
  return 0;
}
