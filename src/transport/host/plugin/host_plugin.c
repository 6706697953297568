/* A host plugin: host_api.h over a host MPI. Compiled once for each binary interface of MPI, with
 * its values, and opens the host's library by its path (SORREL_HOST_BY_PATH). For an MPI of another
 * interface users compile this file with its own wrapper, which links the library:
 *   mpicc -shared -fPIC -I DIR DIR/transport/host/plugin/host_plugin.c -o sorrel-host.so */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "transport/host/host_api.h"

#ifdef SORREL_HOST_BY_PATH
#include "transport/host/plugin/host_functions.h"
#endif

#ifndef SORREL_HOST_NAME
#define SORREL_HOST_NAME "own"
#endif

enum { packet_tag = 1, long_tag = 2, no_slot = -1, segment_count_max = 4, path_bytes_max = 128 };

/* The receives of one lane, oldest first. The oldest one's request is in `heads`. */
struct lane {
  int first;
  int last;
};

struct receive {
  MPI_Request request;
  int next;
};

/* There is one host MPI in a process. */
static struct {
  struct sorrel_host_hooks hooks;
  MPI_Comm comm;
  int lane_count;
  struct lane* lanes;
  MPI_Request* heads;
  struct receive* receives;
  MPI_Request* sends;
  MPI_Request* longs;
  MPI_Request sharing;
  MPI_Request ending;
  int spans_nodes;
  char segments[segment_count_max][path_bytes_max];
  int segment_count;
  char version[128];
} host;

static void describe(int code, const char* call, char* text, size_t bytes) {
  char reason[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, reason, &length);
  reason[strcspn(reason, "\n")] = '\0';
  snprintf(text, bytes, "%s: %s", call, reason);
}

static void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[256];
  describe(code, call, text, sizeof text);
  host.hooks.fail(text);
  abort();
}

static void read_version(void) {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  text[strcspn(text, ",\n")] = '\0';
  /* MPICH: a name, a colon, tabs, and the number. */
  size_t end = 0;
  for (const char* from = text; *from != '\0' && end + 1 < sizeof host.version; ++from) {
    if (*from == ':') continue;
    host.version[end++] = *from == '\t' ? ' ' : *from;
  }
  host.version[end] = '\0';
}

/* Memory that MPICH's processes share has a name until MPI_Finalize, and stays when they are
 * killed. All of this node have mapped it: the name goes. */
static void hide_segments(void) {
  FILE* maps = fopen("/proc/self/maps", "re");
  char line[512];
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    const char* path = strstr(line, "/dev/shm/mpich_shm_");
    if (path == NULL || strchr(path, ' ') != NULL || strlen(path) >= path_bytes_max) continue;
    if (host.segment_count == segment_count_max) break;
    /* Mapped in parts, it is in several lines, of which the others say "(deleted)" or fail. */
    if (unlink(path) == 0) strcpy(host.segments[host.segment_count++], path);
  }
  if (maps != NULL) fclose(maps);
}

/* MPI_Finalize fails when there is nothing to unlink. */
static void show_segments(void) {
  for (int i = 0; i < host.segment_count; ++i) {
    FILE* file = fopen(host.segments[i], "wxe");
    if (file != NULL) fclose(file);
  }
}

/* On a node with more processes than cores, Open MPI calls sched_yield() in each MPI_Test that
 * completes nothing, which costs the time slices of all threads of the core. The workers of this
 * process decide by themselves when to yield. A user's own setting stays. */
static int init_host(int* provided) {
  static const char name[] = "OMPI_MCA_mpi_yield_when_idle";
  const int is_users = getenv(name) != NULL;
  if (!is_users) setenv(name, "0", 0);
  const int code = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, provided);
  if (!is_users) unsetenv(name);
  return code;
}

static void* host_begin(const char* library,
                        const struct sorrel_host_hooks* hooks,
                        struct sorrel_host_place* endpoint,
                        char* error,
                        int trouble_bytes) {
  host.hooks = *hooks;
#ifdef SORREL_HOST_BY_PATH
  if (open_host_functions(library, error, trouble_bytes) != 0) return NULL;
#else
  (void)library;
#endif
  int provided = MPI_THREAD_SINGLE;
  const int code = init_host(&provided);
  if (code != MPI_SUCCESS) {
    describe(code, "MPI_Init_thread", error, (size_t)trouble_bytes);
    return NULL;
  }
  endpoint->any_thread = provided >= MPI_THREAD_SERIALIZED;
  check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check(MPI_Comm_dup(MPI_COMM_WORLD, &host.comm), "MPI_Comm_dup");
  check(MPI_Comm_rank(host.comm, &endpoint->process), "MPI_Comm_rank");
  check(MPI_Comm_size(host.comm, &endpoint->process_count), "MPI_Comm_size");
  MPI_Comm node;
  check(MPI_Comm_split_type(host.comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node),
        "MPI_Comm_split_type");
  check(MPI_Allreduce(&endpoint->process, &endpoint->node_first_process, 1, MPI_INT, MPI_MIN, node),
        "MPI_Allreduce");
  int node_size = 0;
  check(MPI_Comm_size(node, &node_size), "MPI_Comm_size");
  host.spans_nodes = node_size != endpoint->process_count;
  /* All processes that map the segment have done so. */
  if (endpoint->process == endpoint->node_first_process) hide_segments();
  check(MPI_Comm_free(&node), "MPI_Comm_free");
  read_version();
  return &host;
}

static const char* host_version_text(void* self) {
  (void)self;
  return host.version;
}

static void host_share(void* self, const void* mine, void* all, int bytes) {
  (void)self;
  check(MPI_Allgather(mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE, host.comm), "MPI_Allgather");
}

static void* allocate(int count, size_t bytes) {
  void* memory = calloc((size_t)count, bytes);
  if (memory == NULL) host.hooks.fail("no memory for the host MPI's requests");
  return memory;
}

static void host_reserve(void* self, int lane_count, int receive_count, int send_count) {
  (void)self;
  host.lane_count = lane_count;
  host.lanes = allocate(lane_count, sizeof *host.lanes);
  host.heads = allocate(lane_count, sizeof *host.heads);
  host.receives = allocate(receive_count, sizeof *host.receives);
  host.sends = allocate(send_count, sizeof *host.sends);
  for (int i = 0; i < lane_count; ++i) {
    host.lanes[i].first = no_slot;
    host.heads[i] = MPI_REQUEST_NULL;
  }
}

static void host_receive(void* self, int lane, int slot, void* buffer, int bytes, int source) {
  (void)self;
  if (source == SORREL_HOST_ANY_SOURCE) source = MPI_ANY_SOURCE;
  struct lane* to = &host.lanes[lane];
  const int is_first = to->first == no_slot;
  MPI_Request* request = is_first ? &host.heads[lane] : &host.receives[slot].request;
  check(MPI_Irecv(buffer, bytes, MPI_BYTE, source, packet_tag, host.comm, request), "MPI_Irecv");
  host.receives[slot].next = no_slot;
  if (is_first) {
    to->first = slot;
  } else {
    host.receives[to->last].next = slot;
  }
  to->last = slot;
}

/* The head of the lane is complete: the next one takes its place. */
static int drop_head(int lane) {
  struct lane* from = &host.lanes[lane];
  const int slot = from->first;
  from->first = host.receives[slot].next;
  host.heads[lane] = from->first == no_slot ? MPI_REQUEST_NULL : host.receives[from->first].request;
  return slot;
}

static int host_take(void* self, struct sorrel_host_arrival* arrival) {
  (void)self;
  MPI_Status status;
  int is_complete = 0;
  int lane = 0;
  if (host.lane_count == 1) {
    check(MPI_Test(&host.heads[0], &is_complete, &status), "MPI_Test");
  } else {
    check(MPI_Testany(host.lane_count, host.heads, &lane, &is_complete, &status), "MPI_Testany");
    if (lane == MPI_UNDEFINED) return 0;
  }
  if (!is_complete) return 0;
  arrival->slot = drop_head(lane);
  arrival->source = status.MPI_SOURCE;
  MPI_Get_count(&status, MPI_BYTE, &arrival->bytes);
  return 1;
}

static int is_over(MPI_Request* request) {
  int is_complete = 0;
  check(MPI_Test(request, &is_complete, MPI_STATUS_IGNORE), "MPI_Test");
  return is_complete;
}

static int host_is_sent(void* self, int slot) {
  (void)self;
  return is_over(&host.sends[slot]);
}

static int host_send(void* self, int slot, const void* buffer, int bytes, int to) {
  /* What is longer is hardly ever gone at once, and asking costs a look at everything. */
  const int short_bytes = 1024;
  check(MPI_Isend(buffer, bytes, MPI_BYTE, to, packet_tag, host.comm, &host.sends[slot]),
        "MPI_Isend");
  return bytes <= short_bytes && host_is_sent(self, slot);
}

static void host_begin_share(void* self, const void* mine, void* all, int bytes) {
  (void)self;
  check(MPI_Iallgather(mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE, host.comm, &host.sharing),
        "MPI_Iallgather");
}

static int host_has_shared(void* self) {
  (void)self;
  return is_over(&host.sharing);
}

static void host_reserve_long(void* self, int slot_count) {
  (void)self;
  host.longs = allocate(slot_count, sizeof *host.longs);
}

static void host_send_long(void* self, int slot, const void* buffer, int bytes, int to) {
  (void)self;
  check(MPI_Isend(buffer, bytes, MPI_BYTE, to, long_tag, host.comm, &host.longs[slot]),
        "MPI_Isend");
}

static void host_receive_long(void* self, int slot, void* buffer, int bytes, int from) {
  (void)self;
  check(MPI_Irecv(buffer, bytes, MPI_BYTE, from, long_tag, host.comm, &host.longs[slot]),
        "MPI_Irecv");
}

static int host_is_long_done(void* self, int slot) {
  (void)self;
  return is_over(&host.longs[slot]);
}

static void host_begin_end(void* self) {
  (void)self;
  check(MPI_Ibarrier(host.comm, &host.ending), "MPI_Ibarrier");
}

static int host_has_ended(void* self) {
  (void)self;
  return is_over(&host.ending);
}

static void cancel(MPI_Request* request) {
  if (*request == MPI_REQUEST_NULL) return;
  MPI_Cancel(request);
  MPI_Wait(request, MPI_STATUS_IGNORE);
}

/* Over several nodes MPICH over UCX may hang in MPI_Finalize: a process that gets there late waits
 * for others to close their connections with it, and they wait for the launcher, where they answer
 * nothing. When nothing is in progress any more, all that is left to do is to tell the launcher so,
 * in MPI_Finalize's own words (PMI-1). 0 where the launcher is not MPICH's. */
static int has_told_launcher(void) {
  static const char words[] = "cmd=finalize\n";
  const char* connection = getenv("PMI_FD");
  if (!host.spans_nodes || connection == NULL) return 0;
  const int descriptor = atoi(connection);
  char answer[256];
  return write(descriptor, words, sizeof words - 1) == (ssize_t)sizeof words - 1 &&
         read(descriptor, answer, sizeof answer) > 0;
}

static void host_finish(void* self) {
  (void)self;
  for (int i = 0; i < host.lane_count; ++i) {
    while (host.lanes[i].first != no_slot) {
      cancel(&host.heads[i]);
      drop_head(i);
    }
  }
  MPI_Barrier(host.comm);
  if (has_told_launcher()) return;
  show_segments();
  MPI_Comm_free(&host.comm);
  MPI_Finalize();
}

static void host_abort(void* self, int status) {
  (void)self;
  MPI_Abort(MPI_COMM_WORLD, status);
}

static const struct sorrel_host_api api = {.version = SORREL_HOST_API_VERSION,
                                           .name = SORREL_HOST_NAME,
                                           .begin = host_begin,
                                           .version_text = host_version_text,
                                           .share = host_share,
                                           .reserve = host_reserve,
                                           .receive = host_receive,
                                           .take = host_take,
                                           .send = host_send,
                                           .is_sent = host_is_sent,
                                           .begin_share = host_begin_share,
                                           .has_shared = host_has_shared,
                                           .reserve_long = host_reserve_long,
                                           .send_long = host_send_long,
                                           .receive_long = host_receive_long,
                                           .is_long_done = host_is_long_done,
                                           .begin_end = host_begin_end,
                                           .has_ended = host_has_ended,
                                           .finish = host_finish,
                                           .abort = host_abort};

__attribute__((visibility("default"))) const struct sorrel_host_api* sorrel_host_plugin(void) {
  return &api;
}
