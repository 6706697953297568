// File locks exclude other ranks: each rank holds one in turn, and counts in the file.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static int rank, ranks, faults;

static void check(int is_right, const char* what) {
  if (is_right) return;
  printf("rank %d: wrong: %s\n", rank, what);
  ++faults;
}

static int by_fcntl(int file, int command, short type) {
  struct flock lock = {.l_type = type, .l_whence = SEEK_SET};
  return fcntl(file, command, &lock);
}

static int wait_by_fcntl(int file) {
  return by_fcntl(file, F_SETLKW, F_WRLCK);
}

static int free_by_fcntl(int file) {
  return by_fcntl(file, F_SETLK, F_UNLCK);
}

static int wait_by_lockf(int file) {
  lseek(file, 0, SEEK_SET);
  return lockf(file, F_LOCK, 0);
}

static int free_by_lockf(int file) {
  lseek(file, 0, SEEK_SET);
  return lockf(file, F_ULOCK, 0);
}

static int wait_by_flock(int file) {
  return flock(file, LOCK_EX);
}

static int free_by_flock(int file) {
  return flock(file, LOCK_UN);
}

// Every rank adds to the number in the file, with a pause between reading and writing.
static void count(int file, int (*wait)(int file), int (*release)(int file), const char* what) {
  int number = 0;
  if (rank == 0 && pwrite(file, &number, sizeof number, 0) != sizeof number) abort();
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 3; ++i) {
    check(wait(file) == 0, what);
    if (pread(file, &number, sizeof number, 0) != sizeof number) abort();
    ++number;
    usleep(1000);
    if (pwrite(file, &number, sizeof number, 0) != sizeof number) abort();
    check(release(file) == 0, what);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (pread(file, &number, sizeof number, 0) != sizeof number) abort();
  check(number == 3 * ranks, what);
  MPI_Barrier(MPI_COMM_WORLD);
}

// One rank holds the lock; the other ranks see it.
static void see(int file) {
  if (rank == 0) check(by_fcntl(file, F_SETLK, F_WRLCK) == 0, "first lock");
  MPI_Barrier(MPI_COMM_WORLD);
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  check(fcntl(file, F_GETLK, &lock) == 0 && lock.l_type == (rank == 0 ? F_UNLCK : F_WRLCK),
        "F_GETLK");
  if (rank != 0) check(lock.l_pid == getpid(), "owner");
  if (rank != 0)
    check(by_fcntl(file, F_SETLK, F_RDLCK) == -1 && (errno == EAGAIN || errno == EACCES),
          "F_SETLK");
  lseek(file, 0, SEEK_SET);
  if (rank != 0) check(lockf(file, F_TEST, 0) == -1 && lockf(file, F_TLOCK, 0) == -1, "lockf");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) check(by_fcntl(file, F_SETLK, F_UNLCK) == 0, "last lock");
  MPI_Barrier(MPI_COMM_WORLD);
  check(by_fcntl(file, F_SETLKW, F_RDLCK) == 0, "shared lock");
  MPI_Barrier(MPI_COMM_WORLD);
  check(by_fcntl(file, F_SETLK, F_UNLCK) == 0, "end of a shared lock");
  check((fcntl(file, F_GETFL) & O_ACCMODE) == O_RDWR, "another command");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  char path[] = "/tmp/file_locks_XXXXXX";
  if (rank == 0) close(mkstemp(path));
  MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
  const int file = open(path, O_RDWR);
  see(file);
  count(file, wait_by_fcntl, free_by_fcntl, "fcntl");
  count(file, wait_by_lockf, free_by_lockf, "lockf");
  count(file, wait_by_flock, free_by_flock, "flock");
  if (rank == 0) unlink(path);
  MPI_Finalize();
  if (faults == 0) printf("locks of rank %d exclude others\n", rank);
  return faults;
}
