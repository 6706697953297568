/* What a host plugin offers: the few calls of an installed MPI that carry packets between the
 * processes of a job. Plain C, because the plugin is compiled with an mpi.h of the host's interface
 * and the runtime never sees that.
 *
 * One thread at a time. Receives and sends stand in numbered slots that the caller chooses; a
 * lane is a queue of receives from one source, or from any, whose first is the next to complete.
 * An error of the host is passed to `hooks.fail`, which does not return. */
#ifndef SORREL_HOST_API_H
#define SORREL_HOST_API_H

#ifdef __cplusplus
extern "C" {
#endif

#define SORREL_HOST_API_VERSION 2
#define SORREL_HOST_ANY_SOURCE (-1)

struct sorrel_host_hooks {
  /* The host cannot go on. Must not return. */
  void (*fail)(const char* text);
};

/* Where this process stands. */
struct sorrel_host_place {
  int process;
  int process_count;
  /* The smallest process of those on the same node: it names the node. */
  int node_first_process;
  /* Any thread may call, one at a time; else only the thread that called begin(). */
  int any_thread;
};

struct sorrel_host_arrival {
  int slot;
  int source;
  int bytes;
};

struct sorrel_host_api {
  int version;
  /* "openmpi", "mpich", "abi"; "own": compiled by the user */
  const char* name;

  /* Starts the host MPI. `library` is the path of its library where the plugin is not linked with
   * it. Null when it fails, with one line in `error`. */
  void* (*begin)(const char* library,
                 const struct sorrel_host_hooks* hooks,
                 struct sorrel_host_place* endpoint,
                 char* error,
                 int trouble_bytes);
  /* Version of the host's library, one line. */
  const char* (*version_text)(void* host);
  /* Every process passes `bytes` and receives those of all processes, in order of process.
   * Collective. */
  void (*share)(void* host, const void* mine, void* all, int bytes);

  /* Once, before the calls below. */
  void (*reserve)(void* host, int lane_count, int receive_count, int send_count);
  /* Appends a receive to a lane. */
  void (*receive)(void* host, int lane, int slot, void* buffer, int bytes, int source);
  /* The first receive of some lane that is complete; 0 when there is none. */
  int (*take)(void* host, struct sorrel_host_arrival* arrival);
  /* 1 when the buffer is free again, else is_sent() will say so. */
  int (*send)(void* host, int slot, const void* buffer, int bytes, int to);
  int (*is_sent)(void* host, int slot);

  /* As share(), without waiting: mine and all stay valid until has_shared() has returned
   * 1. One at a time; every process makes the same calls in the same order. */
  void (*begin_share)(void* host, const void* mine, void* all, int bytes);
  int (*has_shared)(void* host);

  /* Long messages, which match each other only, in the order of the calls between two processes.
   * They stand in numbered slots of their own, whose number is given once before; both ends name
   * the same number of bytes. */
  void (*reserve_long)(void* host, int slot_count);
  void (*send_long)(void* host, int slot, const void* buffer, int bytes, int to);
  void (*receive_long)(void* host, int slot, void* buffer, int bytes, int from);
  int (*is_long_done)(void* host, int slot);

  /* Collective: declares that this process needs no other process, and tests whether all have
   * declared it. */
  void (*begin_end)(void* host);
  int (*has_ended)(void* host);
  /* After has_ended(): stops the host MPI. */
  void (*finish)(void* host);
  /* Ends every process of the job. Does not return. */
  void (*abort)(void* host, int status);
};

/* The plugin's only symbol. */
#define SORREL_HOST_ENTRY "sorrel_host_plugin"
const struct sorrel_host_api* sorrel_host_plugin(void);

#ifdef __cplusplus
}
#endif

#endif
