//! For the tests of files: a folder for the files of a test, which no other test uses.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../check.h"

enum { path_bytes = 256 };

static char test_folder[path_bytes];

/// Collective. MPI_COMM_WORLD's first rank makes the folder.
static inline void make_test_folder(void) {
  if (rank_in(MPI_COMM_WORLD) == 0) {
    const char* base = getenv("TMPDIR");
    snprintf(test_folder, sizeof test_folder, "%.200s/sorrel-io-XXXXXX", base ? base : "/tmp");
    CHECK(mkdtemp(test_folder) != NULL);
  }
  MPI_Bcast(test_folder, path_bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
}

/// Rank and size of MPI_COMM_WORLD.
static int rank, size;

/// Begins a test, with a folder.
static inline void begin_test(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  rank = rank_in(MPI_COMM_WORLD);
  size = size_of(MPI_COMM_WORLD);
  make_test_folder();
}

static inline const char* test_path(const char* name) {
  static char path[2 * path_bytes];
  snprintf(path, sizeof path, "%s/%s", test_folder, name);
  return path;
}

/// Collective. The folder must be empty: nothing is left behind.
static inline void remove_test_folder(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_in(MPI_COMM_WORLD) == 0) CHECK_EQUAL(rmdir(test_folder), 0);
}

static inline void end_test(void) {
  remove_test_folder();
  MPI_Finalize();
}

static inline int class_of(int error) {
  int error_class;
  MPI_Error_class(error, &error_class);
  return error_class;
}

#define CHECK_CLASS(call, expected) CHECK_EQUAL(class_of(call), expected)
#define CHECK_OK(call) CHECK_EQUAL(class_of(call), MPI_SUCCESS)

static inline MPI_File open_for_all(const char* name, int amode) {
  MPI_File file;
  CHECK_OK(MPI_File_open(MPI_COMM_WORLD, test_path(name), amode, MPI_INFO_NULL, &file));
  return file;
}

static inline int count_in(const MPI_Status* status, MPI_Datatype type) {
  int count;
  MPI_Get_count(status, type, &count);
  return count;
}
