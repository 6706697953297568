// Where memory lies on a machine of several memory nodes, by what the kernel answers for each page.
// `placed` counts pages that ranks touch first, and pages of mailboxes, which lie on another node
// than that of their worker. `placed apart` does so in a job of several processes, whose mailboxes
// the kernel does not list by node. `placed moved` counts those of ranks that have changed their
// worker: within a minute their pages have followed.
// Status 0: less than one page in eight lies elsewhere. 1: more do; it would be three of four if
// memory lay anywhere. 77: the machine has one node, or the system refuses to answer.
#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
  page_bytes = 4096,
  global_bytes = 16 * page_bytes,
  stack_bytes = 16 * page_bytes,
  block_bytes = 1 << 17,
  heap_bytes = 1 << 20,
  few = 8
};

static char global_data[global_bytes];
static _Thread_local char thread_data[2 * page_bytes];

static int own_node(void) {
  unsigned cpu = 0, node = 0;
  return syscall(SYS_getcpu, &cpu, &node, NULL) == 0 ? (int)node : -1;
}

// Pages within a block that lie on another node, or of which the system tells nothing. The first
// and the last one may belong to others, too.
static int count_elsewhere(const char* block, size_t bytes, int node) {
  int elsewhere = 0;
  for (size_t at = page_bytes - (size_t)block % page_bytes; at + page_bytes <= bytes;
       at += page_bytes) {
    void* page = (void*)(block + at);
    int lies = -1;
    // A page that the kernel's own balancing observes counts as absent until it is read.
    (void)*(const volatile char*)page;
    elsewhere += syscall(SYS_move_pages, 0, 1UL, &page, NULL, &lies, 0) != 0 || lies != node;
  }
  return elsewhere;
}

static int node_count(void) {
  int count = 0;
  char name[64];
  for (int node = 0; node < 1024; node++) {
    snprintf(name, sizeof name, "/sys/devices/system/node/node%d", node);
    count += access(name, F_OK) == 0;
  }
  return count;
}

// Pages of all memory with a node of preference: on that node and on others.
static void count_preferred(long* there, long* elsewhere) {
  *there = *elsewhere = 0;
  FILE* maps = fopen("/proc/self/numa_maps", "r");
  char line[4096];
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    const char* policy = strstr(line, " prefer:");
    if (policy == NULL) policy = strstr(line, " prefer=static:");
    if (policy == NULL) continue;
    const int wanted = atoi(strchr(policy, ':') + 1);
    for (const char* at = line; (at = strstr(at, " N")) != NULL; at++) {
      int node = 0;
      long pages = 0;
      if (sscanf(at, " N%d=%ld", &node, &pages) == 2)
        *(node == wanted ? there : elsewhere) += pages;
    }
  }
  if (maps != NULL) fclose(maps);
}

// Not with collectives, in which ranks may change their worker.
static void gather(const int* mine, int* all, int count, int rank, int size) {
  if (rank != 0) {
    MPI_Send(mine, count, MPI_INT, 0, 0, MPI_COMM_WORLD);
    return;
  }
  memcpy(all, mine, (size_t)count * sizeof *mine);
  for (int i = 1; i < size; i++)
    MPI_Recv(all + i * count, count, MPI_INT, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// Each row: kind, pages of all ranks that lie elsewhere. Returns whether they are few.
static int print_rows(
    const char* const* kinds, const int* kind_pages, int count, const int* all, int size) {
  int is_right = 1;
  for (int kind = 0; kind < count; kind++) {
    long elsewhere = 0;
    for (int i = 0; i < size; i++)
      elsewhere += all[i * count + kind];
    const long pages = (long)kind_pages[kind] * size;
    printf("%s: %ld of %ld pages elsewhere\n", kinds[kind], elsewhere, pages);
    is_right &= elsewhere * few <= pages;
  }
  return is_right;
}

static int check_first_touch(int rank, int size, int has_mailboxes) {
  enum { kind_count = 8 };

  // A short block lies in the second part of a heap, where several ranks could share a large page.
  static const char* const kinds[kind_count] = {"stacks",  "short blocks",  "long blocks",
                                                "globals", "thread-locals", "MPI_Alloc_mem",
                                                "windows", "shared windows"};
  static const int kind_pages[kind_count] = {15, 31, 255, 15, 1, 255, 255, 255};
  char stack[stack_bytes];
  char *block = malloc(block_bytes), *heap = malloc(heap_bytes), *allocated = NULL,
       *window_memory = NULL, *shared_memory = NULL;
  MPI_Win window, shared;
  MPI_Alloc_mem(heap_bytes, MPI_INFO_NULL, &allocated);
  MPI_Win_allocate(heap_bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window_memory, &window);
  MPI_Win_allocate_shared(heap_bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &shared_memory, &shared);
  char* const blocks[kind_count] = {stack,       block,     heap,          global_data,
                                    thread_data, allocated, window_memory, shared_memory};
  const size_t bytes[kind_count] = {stack_bytes,        block_bytes, heap_bytes, global_bytes,
                                    sizeof thread_data, heap_bytes,  heap_bytes, heap_bytes};
  for (int kind = 0; kind < kind_count; kind++)
    memset(blocks[kind], rank + 1, bytes[kind]);
  // So that mailboxes are opened.
  int *in = calloc((size_t)size, sizeof *in), *out = calloc((size_t)size, sizeof *out);
  MPI_Request* requests = malloc(2 * (size_t)size * sizeof *requests);
  for (int i = 0; i < size; i++) {
    MPI_Irecv(&in[i], 1, MPI_INT, i, 1, MPI_COMM_WORLD, &requests[2 * i]);
    MPI_Isend(&out[i], 1, MPI_INT, i, 1, MPI_COMM_WORLD, &requests[2 * i + 1]);
  }
  MPI_Waitall(2 * size, requests, MPI_STATUSES_IGNORE);
  const int node = own_node();
  int mine[kind_count], *all = malloc(sizeof mine * (size_t)size), is_right = 1;
  for (int kind = 0; kind < kind_count; kind++)
    mine[kind] = count_elsewhere(blocks[kind], bytes[kind], node);
  gather(mine, all, kind_count, rank, size);
  if (rank == 0) {
    is_right = print_rows(kinds, kind_pages, kind_count, all, size);
    long there = 0, elsewhere = 0;
    count_preferred(&there, &elsewhere);
    printf("mailboxes: %ld of %ld pages elsewhere\n", elsewhere, there + elsewhere);
    is_right &= !has_mailboxes || (there > 0 && elsewhere * few <= there);
  }
  MPI_Win_free(&window);
  MPI_Win_free(&shared);
  return is_right;
}

static int check_moved(int rank, int size) {
  char stack[stack_bytes];
  char* heap = malloc(heap_bytes);
  const int first_node = own_node();
  memset(stack, rank + 1, stack_bytes);
  memset(heap, rank + 1, heap_bytes);
  memset(global_data, rank + 1, global_bytes);
  for (int i = 0; i < 40; i++)
    MPI_Barrier(MPI_COMM_WORLD);
  int elsewhere = 0, node = -1;
  for (int wait = 0; wait < 600; wait++) {
    usleep(100000);
    node = own_node();
    elsewhere = count_elsewhere(stack, stack_bytes, node) +
                count_elsewhere(heap, heap_bytes, node) +
                count_elsewhere(global_data, global_bytes, node);
    if (elsewhere == 0) break;
  }
  int damage = 0;
  for (int i = 0; i < heap_bytes; i++)
    damage += heap[i] != (char)(rank + 1);
  for (int i = 0; i < stack_bytes; i++)
    damage += stack[i] != (char)(rank + 1);
  for (int i = 0; i < global_bytes; i++)
    damage += global_data[i] != (char)(rank + 1);
  int mine[3] = {elsewhere, node != first_node, damage}, *all = malloc(sizeof mine * (size_t)size),
      sum[3] = {0};
  gather(mine, all, 3, rank, size);
  if (rank != 0) return 1;
  for (int i = 0; i < 3 * size; i++)
    sum[i % 3] += all[i];
  const long pages = 285L * size;
  printf("%d ranks on another node than at first; %d of %ld pages elsewhere; %d bytes damaged\n",
         sum[1], sum[0], pages, sum[2]);
  return sum[1] > size / 4 && sum[0] * (long)few <= pages && sum[2] == 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0, is_right = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int nodes = node_count();
  int lies = 0;
  const int can_ask = syscall(SYS_get_mempolicy, &lies, NULL, 0UL, NULL, 0UL) == 0;
  if (nodes < 2 || !can_ask) {
    if (rank == 0)
      printf("skipped: %d memory node(s)%s\n", nodes,
             can_ask ? "" : ", and the system does not tell where pages lie");
    MPI_Finalize();
    return 77;
  }
  const char* mode = argc > 1 ? argv[1] : "";
  is_right = strcmp(mode, "moved") == 0 ? check_moved(rank, size)
                                        : check_first_touch(rank, size, strcmp(mode, "apart") != 0);
  MPI_Finalize();
  return is_right ? 0 : 1;
}
