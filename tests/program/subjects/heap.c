// heap: every rank uses malloc and its family in all ways that a process may, and passes blocks to
// its threads, to other ranks, to the C library and to a child. Prints one line for each rank.
// heap [own|shared [ROUNDS]]: one heap for each rank is expected (default), or the C library's.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <malloc.h>
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(condition)                                            \
  do {                                                              \
    if (!(condition)) {                                             \
      printf("rank %d: line %d: %s\n", rank, __LINE__, #condition); \
      fflush(stdout);                                               \
      abort();                                                      \
    }                                                               \
  } while (0)

enum { block_count = 200, region_bytes_min = 15 << 10 };

static int rank, size;
static int has_own_heap = 1;
// Whether the heap is the C library's, in a process of the rank's own.
static int is_process = 0;
// The compiler must not remove pairs of malloc and free, nor judge sizes.
static void* (*volatile allocate)(size_t) = malloc;
static void (*volatile release)(void*) = free;

static uintptr_t number(const void* pointer) {
  return (uintptr_t)pointer;
}

// The blocks of ranks of one process lie in ranges of addresses that are apart from each other.
static void check_places(void) {
  void* blocks[block_count];
  uintptr_t ends[3] = {UINTPTR_MAX, 0, (uintptr_t)getpid()};
  for (int i = 0; i < block_count; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    blocks[i] = allocate((size_t)(i % 50));
    memset(blocks[i], rank, (size_t)(i % 50));
    if (number(blocks[i]) < ends[0]) ends[0] = number(blocks[i]);
    if (number(blocks[i]) > ends[1]) ends[1] = number(blocks[i]);
  }
  uintptr_t* all = malloc(sizeof ends * (size_t)size);
  MPI_Allgather(ends, 3, MPI_AINT, all, 3, MPI_AINT, MPI_COMM_WORLD);
  int is_apart = 1, neighbours = 0;
  for (int i = 1; i < size; ++i) {
    const uintptr_t *before = all + 3 * i - 3, *own = all + 3 * i;
    if (before[2] != own[2]) continue;
    ++neighbours;
    is_apart &= own[0] - before[0] >= region_bytes_min && before[1] < own[0];
  }
  CHECK(neighbours == 0 || is_apart == has_own_heap);
  free(all);
  for (int i = 0; i < block_count; ++i) {
    for (int byte = 0; byte < i % 50; ++byte)
      CHECK(((unsigned char*)blocks[i])[byte] == (unsigned char)rank);
    release(blocks[i]);
  }
}

// Blocks of 2 KiB and more of a rank's own heap begin a line of the caches.
static void check_lines(void) {
  if (!has_own_heap || is_process) return;
  char* grown = NULL;
  for (size_t bytes = 100; bytes < 300000; bytes += bytes / 3) {
    void* blocks[] = {allocate(bytes), calloc(bytes, 1), memalign(32, bytes),
                      aligned_alloc(16, bytes)};
    grown = realloc(grown, bytes);
    grown[bytes - 1] = 1;
    CHECK(bytes < 2048 || number(grown) % 64 == 0);
    for (int i = 0; i < 4; ++i) {
      CHECK(bytes < 2048 || number(blocks[i]) % 64 == 0);
      memset(blocks[i], i, bytes);
    }
    for (int i = 0; i < 4; ++i)
      release(blocks[i]);
    // What the next blocks begin at differs.
    blocks[0] = allocate(bytes % 64);
    CHECK(blocks[0] != NULL);
  }
  free(grown);
}

static void check_sizes(void) {
  static const size_t sizes[] = {0,    1,     15,    16,     24,     25,      1000,    1001,
                                 4096, 32760, 32761, 100000, 300000, 1 << 20, 5 << 20, 70 << 20};

  enum { count = sizeof sizes / sizeof *sizes };

  void* blocks[count];
  for (int i = 0; i < count; ++i) {
    blocks[i] = allocate(sizes[i]);
    CHECK(blocks[i] != NULL && number(blocks[i]) % 16 == 0);
    CHECK(malloc_usable_size(blocks[i]) >= sizes[i]);
    memset(blocks[i], i + 1, sizes[i] < 400000 ? sizes[i] : 400000);
    for (int j = 0; j < i; ++j)
      CHECK(blocks[i] != blocks[j]);
  }
  for (int i = 0; i < count; ++i) {
    const size_t filled = sizes[i] < 400000 ? sizes[i] : 400000;
    for (size_t byte = 0; byte < filled; ++byte)
      CHECK(((unsigned char*)blocks[i])[byte] == i + 1);
    release(blocks[i]);
    unsigned char* zeroed = calloc(1, sizes[i]);
    for (size_t byte = 0; byte < filled; ++byte)
      CHECK(zeroed[byte] == 0);
    release(zeroed);
  }
  CHECK(malloc_usable_size(NULL) == 0);
  release(NULL);
}

static void check_impossible_requests(void) {
  errno = 0;
  CHECK(allocate(PTRDIFF_MAX) == NULL && errno == ENOMEM);
  errno = 0;
  CHECK(allocate(SIZE_MAX - 8) == NULL && errno == ENOMEM);
  void* (*volatile zeroed)(size_t, size_t) = calloc;
  errno = 0;
  CHECK(zeroed(SIZE_MAX / 2, 3) == NULL && errno == ENOMEM);
  void* (*volatile array)(void*, size_t, size_t) = reallocarray;
  errno = 0;
  CHECK(array(NULL, SIZE_MAX / 2, 3) == NULL && errno == ENOMEM);
  void* (*volatile resize)(void*, size_t) = realloc;
  char* block = malloc(100);
  strcpy(block, "kept");
  CHECK(resize(block, PTRDIFF_MAX) == NULL && strcmp(block, "kept") == 0);
  free(block);
  void* result = &rank;
  int (*volatile aligned)(void**, size_t, size_t) = posix_memalign;
  CHECK(aligned(&result, 3, 10) == EINVAL && aligned(&result, 4, 10) == EINVAL);
  CHECK(aligned(&result, 64, PTRDIFF_MAX) == ENOMEM && result == &rank);
}

static void check_alignment(void) {
  for (size_t alignment = 8; alignment <= 1 << 21; alignment *= 2) {
    void* blocks[3] = {NULL};
    CHECK(posix_memalign(&blocks[0], alignment, 100) == 0);
    blocks[1] = aligned_alloc(alignment, 2 * alignment);
    blocks[2] = memalign(alignment, 1);
    for (int i = 0; i < 3; ++i) {
      CHECK(blocks[i] != NULL && number(blocks[i]) % alignment == 0);
      memset(blocks[i], 7, malloc_usable_size(blocks[i]));
      blocks[i] = realloc(blocks[i], 5000);
      CHECK(*(char*)blocks[i] == 7);
    }
    for (int i = 0; i < 3; ++i)
      release(blocks[i]);
  }
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  void* of_page = valloc(10);
  void* of_pages = pvalloc(page + 1);
  CHECK(number(of_page) % page == 0 && number(of_pages) % page == 0);
  CHECK(malloc_usable_size(of_pages) >= 2 * page);
  release(of_page);
  release(of_pages);
}

static void check_growth(void) {
  size_t bytes = 10;
  char* block = malloc(bytes);
  memset(block, 'a', bytes);
  for (; bytes < 30 << 20; bytes = bytes * 3 / 2) {
    block = realloc(block, bytes * 3 / 2);
    CHECK(block != NULL && block[0] == 'a' && block[bytes - 1] == 'a');
    memset(block, 'a', bytes * 3 / 2);
    release(malloc(bytes));
  }
  block = realloc(block, 20);
  CHECK(block[19] == 'a');
  release(block);
}

// Blocks that the C library allocates, frees or enlarges.
static void check_libc(void) {
  char* copied = strdup("a text of the C library's");
  copied = realloc(copied, 100000);
  CHECK(strcmp(copied, "a text of the C library's") == 0);
  release(copied);
  char* printed = NULL;
  CHECK(asprintf(&printed, "%d", rank) > 0);
  release(printed);
  char* written = NULL;
  size_t written_bytes = 0;
  FILE* stream = open_memstream(&written, &written_bytes);
  for (int i = 0; i < 10000; ++i)
    fprintf(stream, "line %d\n", i);
  fclose(stream);
  // getline enlarges a block of the rank's.
  size_t line_bytes = 2;
  char* line = malloc(line_bytes);
  stream = fmemopen(written, written_bytes, "r");
  int lines = 0;
  while (getline(&line, &line_bytes, stream) > 0)
    ++lines;
  CHECK(lines == 10000);
  fclose(stream);
  release(line);
  release(written);
  struct dirent** names = NULL;
  const int count = scandir("/", &names, NULL, alphasort);
  CHECK(count > 0);
  for (int i = 0; i < count; ++i)
    release(names[i]);
  release(names);
  char* path = realpath("/", NULL);
  CHECK(path[0] == '/');
  release(path);
}

static void* use_in_thread(void* argument) {
  void** blocks = argument;
  for (int i = 0; i < block_count; ++i) {
    if (i % 3 == 0) blocks[i] = realloc(blocks[i], 3000);
    CHECK(*(unsigned char*)blocks[i] == (unsigned char)i);
    release(blocks[i]);
    blocks[i] = allocate((size_t)(1 + 100 * i));
    memset(blocks[i], i, (size_t)(1 + 100 * i));
  }
  return NULL;
}

static void check_threads(void) {
  enum { thread_count = 3 };

  static void* blocks[thread_count][block_count];
  pthread_t threads[thread_count];
  for (int round = 0; round < 5; ++round) {
    for (int t = 0; t < thread_count; ++t) {
      for (int i = 0; i < block_count; ++i) {
        blocks[t][i] = allocate((size_t)(1 + 50 * i));
        memset(blocks[t][i], i, (size_t)(1 + 50 * i));
      }
    }
    for (int t = 0; t < thread_count; ++t)
      CHECK(pthread_create(&threads[t], NULL, use_in_thread, blocks[t]) == 0);
    for (int i = 0; i < 2000; ++i)
      release(allocate((size_t)(i * 10)));
    for (int t = 0; t < thread_count; ++t)
      pthread_join(threads[t], NULL);
    for (int t = 0; t < thread_count; ++t) {
      for (int i = 0; i < block_count; ++i) {
        CHECK(*(unsigned char*)blocks[t][i] == (unsigned char)i);
        release(blocks[t][i]);
      }
    }
  }
}

// Each rank frees, and enlarges, blocks of the rank before it.
static void check_neighbours(void) {
  int pid = getpid(), pid_before = 0;
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  MPI_Sendrecv(&pid, 1, MPI_INT, next, 0, &pid_before, 1, MPI_INT, before, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  for (int round = 0; round < 50; ++round) {
    void* block = allocate((size_t)(1 + 777 * round));
    void* received = NULL;
    memset(block, round, (size_t)(1 + 777 * round));
    MPI_Sendrecv(&block, sizeof block, MPI_BYTE, next, 1, &received, sizeof received, MPI_BYTE,
                 before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (pid_before != pid) continue;
    CHECK(*(unsigned char*)received == (unsigned char)round);
    if (round % 2 == 0) received = realloc(received, (size_t)(1 + 5000 * round));
    CHECK(*(unsigned char*)received == (unsigned char)round);
    release(received);
  }
}

static void check_child(void) {
  void* block = malloc(1000);
  void* large = malloc(1000000);
  const pid_t child = fork();
  if (child == 0) {
    block = realloc(block, 100000);
    void* other = malloc(64);
    release(large);
    release(block);
    char* text = strdup("in the child");
    check_lines();
    check_sizes();
    release(text);
    release(other);
    _exit(0);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  release(block);
  release(large);
}

int main(int argc, char** argv) {
  has_own_heap = argc < 2 || strcmp(argv[1], "shared") != 0;
  is_process = argc > 1 && strcmp(argv[1], "process") == 0;
  const int rounds = argc < 3 ? 2 : atoi(argv[2]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  check_places();
  for (int round = 0; round < rounds; ++round) {
    check_lines();
    check_sizes();
    check_impossible_requests();
    check_alignment();
    check_growth();
    check_libc();
    check_threads();
    check_neighbours();
    check_child();
    malloc_trim(0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  printf("the heap of rank %d works\n", rank);
  MPI_Finalize();
  return 0;
}
