// ended FILE          Each rank enters and leaves many states, of MPI and of the system, that keep
// a job
//                     from being saved; after each of them the job is saved.
// ended - one|all     One rank has had a thread, or all: the job is not saved, and all ranks go on.
#define _GNU_SOURCE
#include <pthread.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sorrel.h>

#include "../mpi/check.h"

extern char** environ;

static int rank, size;
static const char* path;

static int right(void) {
  return (rank + 1) % size;
}

static int left(void) {
  return (rank + size - 1) % size;
}

static void freed_send(void) {
  static int value = 1;
  int got = 0;
  MPI_Request request;
  MPI_Isend(&value, 1, MPI_INT, right(), 5, MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
  MPI_Recv(&got, 1, MPI_INT, left(), 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void cancelled_receives(void) {
  static int unused;
  MPI_Request requests[2];
  for (int i = 0; i < 2; i++) {
    MPI_Irecv(&unused, 1, MPI_INT, left(), 77, MPI_COMM_WORLD, &requests[i]);
    MPI_Cancel(&requests[i]);
  }
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Request_free(&requests[1]);
}

static void closed_file(void) {
  MPI_File file;
  MPI_Request request;
  CHECK_EQUAL(MPI_File_open(MPI_COMM_WORLD, path,
                            MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                            MPI_INFO_NULL, &file),
              MPI_SUCCESS);
  MPI_File_write_shared(file, "x", 1, MPI_BYTE, MPI_STATUS_IGNORE);
  MPI_File_iwrite_at(file, 10, "x", 1, MPI_BYTE, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
}

// The library's own words about it are no state of the rank.
static void file_that_cannot_be_opened(void) {
  MPI_File file;
  CHECK(MPI_File_open(MPI_COMM_WORLD, "/nowhere/no.file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file) !=
        MPI_SUCCESS);
}

static void text_of_a_known_error(void) {
  CHECK(strcmp(strerror(2), "No such file or directory") == 0);
}

static void freed_windows(void) {
  MPI_Win win;
  static int cells[10];
  int* base;
  MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  MPI_Win_fence(0, win);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_attach(win, cells, sizeof cells);
  MPI_Win_free(&win);
}

static void freed_collectives(void) {
  MPI_Request request;
  MPI_Comm comm;
  MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Barrier_init(comm, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  MPI_Comm_free(&comm);
}

static void freed_partitions(void) {
  static int sent[8], got[8];
  MPI_Request requests[2];
  for (int is_started = 0; is_started < 2; is_started++) {
    MPI_Psend_init(sent, 2, 4, MPI_INT, right(), 5, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(got, 2, 4, MPI_INT, left(), 5, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    if (is_started) {
      MPI_Startall(2, requests);
      MPI_Pready_range(0, 1, requests[0]);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
  }
}

static void detached_buffers(void) {
  static char memory[10000];
  void* detached;
  int bytes, value = 3, got = 0;
  MPI_Buffer_attach(memory, sizeof memory);
  MPI_Bsend(&value, 1, MPI_INT, right(), 5, MPI_COMM_WORLD);
  MPI_Recv(&got, 1, MPI_INT, left(), 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Buffer_detach(&detached, &bytes);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_attach_buffer(comm, memory, sizeof memory);
  MPI_Comm_detach_buffer(comm, &detached, &bytes);
  MPI_Comm_free(&comm);
}

static void finalized_session(void) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "ended", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  MPI_Group_free(&group);
  MPI_Barrier(comm);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
}

static void message_that_was_too_long(void) {
  int sent[2] = {1, 2}, got = 0;
  MPI_Request request;
  MPI_Isend(sent, 2, MPI_INT, rank, 8, MPI_COMM_WORLD, &request);
  CHECK(MPI_Recv(&got, 1, MPI_INT, rank, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void unmapped_memory(void) {
  enum { bytes = 1 << 20 };

  char* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(memory, bytes / 2);
  munmap(memory + bytes / 2, bytes / 2);
}

static void child_that_has_ended(void) {
  pid_t child = 0;
  char* words[] = {"true", NULL};
  CHECK_EQUAL(posix_spawnp(&child, "true", NULL, NULL, words, environ), 0);
  CHECK_EQUAL(waitpid(child, NULL, 0), child);
  CHECK_EQUAL(system("true"), 0);
  FILE* output = popen("true", "r");
  CHECK_EQUAL(pclose(output), 0);
}

static void (*const states[])(void) = {
    freed_send,
    cancelled_receives,
    closed_file,
    file_that_cannot_be_opened,
    text_of_a_known_error,
    freed_windows,
    freed_collectives,
    freed_partitions,
    detached_buffers,
    finalized_session,
    message_that_was_too_long,
    unmapped_memory,
    child_that_has_ended,
};

static void* end_at_once(void* argument) {
  return argument;
}

static void check_thread(int for_all) {
  if (rank == 2 || for_all) {
    pthread_t thread;
    CHECK_EQUAL(pthread_create(&thread, NULL, end_at_once, NULL), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_EQUAL(sorrel_checkpoint(), -1);
}

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  rank = rank_in(MPI_COMM_WORLD);
  size = size_of(MPI_COMM_WORLD);
  if (argc < 2) return 2;
  path = argv[1];
  if (argc > 2) {
    check_thread(strcmp(argv[2], "all") == 0);
  } else {
    const int count = (int)(sizeof states / sizeof *states);
    for (int i = 0; i < count; i++) {
      states[i]();
      MPI_Barrier(MPI_COMM_WORLD);
      if (sorrel_checkpoint() != 0) {
        fprintf(stderr, "not saved after state %d\n", i);
        MPI_Abort(MPI_COMM_WORLD, 1);
      }
    }
    if (rank == 0) printf("saved after each of %d\n", count);
  }
  MPI_Finalize();
  return 0;
}
