// Events of the tool information interface: messages that come before their receives, in order and
// with their elements; levels of safety; dropped events; registrations that end, also inside a
// callback; sleeps of the worker and the state of its pool.
#include <unistd.h>

#include "../check.h"

enum { text_bytes = 512, elements_max = 4 };

static int event_index(const char* name) {
  int index = -1;
  CHECK_EQUAL(MPI_T_event_get_index(name, &index), MPI_SUCCESS);
  return index;
}

static MPI_T_event_registration registration_of(const char* name) {
  MPI_T_event_registration registration;
  CHECK_EQUAL(MPI_T_event_handle_alloc(event_index(name), NULL, MPI_INFO_NULL, &registration),
              MPI_SUCCESS);
  return registration;
}

static void end(MPI_T_event_registration registration) {
  CHECK_EQUAL(MPI_T_event_handle_free(registration, NULL, NULL), MPI_SUCCESS);
}

// Delivers what has happened.
static void call_mpi(MPI_Comm comm) {
  int flag;
  CHECK_EQUAL(MPI_Iprobe(MPI_PROC_NULL, 0, comm, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
}

static void descriptions(void) {
  int count = 0, index, found, categories, number, sum = 0, members[64], i;
  char name[text_bytes], description[text_bytes];
  CHECK_EQUAL(MPI_T_event_get_num(&count), MPI_SUCCESS);
  CHECK_EQUAL(count, 5);
  for (index = 0; index < count; index++) {
    int name_length = text_bytes, length = text_bytes, elements = elements_max, verbosity, bind;
    MPI_Datatype types[elements_max];
    MPI_Aint displacements[elements_max];
    MPI_T_enum names;
    MPI_Info info;
    CHECK_EQUAL(MPI_T_event_get_info(index, name, &name_length, &verbosity, types, displacements,
                                     &elements, &names, &info, description, &length, &bind),
                MPI_SUCCESS);
    CHECK_EQUAL(strlen(name) + 1, name_length);
    CHECK_EQUAL(strlen(description) + 1, length);
    CHECK_EQUAL(bind, MPI_T_BIND_NO_OBJECT);
    CHECK(verbosity >= MPI_T_VERBOSITY_USER_BASIC && verbosity <= MPI_T_VERBOSITY_MPIDEV_ALL);
    CHECK(elements >= 2 && elements <= elements_max);
    for (i = 0; i < elements; i++) {
      CHECK(types[i] == MPI_INT || types[i] == MPI_UNSIGNED_LONG_LONG);
      CHECK_EQUAL(displacements[i], 8 * i);
    }
    CHECK_EQUAL(MPI_T_enum_get_info(names, &number, NULL, NULL), MPI_SUCCESS);
    CHECK_EQUAL(number, elements);
    MPI_Info_free(&info);
    CHECK_EQUAL(MPI_T_event_get_index(name, &found), MPI_SUCCESS);
    CHECK_EQUAL(found, index);
    // Room for one element only.
    elements = 1;
    types[1] = MPI_DATATYPE_NULL;
    CHECK_EQUAL(MPI_T_event_get_info(index, NULL, NULL, NULL, types, NULL, &elements, NULL, NULL,
                                     NULL, NULL, NULL),
                MPI_SUCCESS);
    CHECK(elements >= 2 && types[1] == MPI_DATATYPE_NULL);
  }
  CHECK_EQUAL(MPI_T_category_get_num(&categories), MPI_SUCCESS);
  for (index = 0; index < categories; index++) {
    CHECK_EQUAL(MPI_T_category_get_num_events(index, &number), MPI_SUCCESS);
    for (i = 0; i < 64; i++)
      members[i] = -1;
    CHECK_EQUAL(MPI_T_category_get_events(index, 64, members), MPI_SUCCESS);
    for (i = 0; i < 64; i++)
      CHECK_EQUAL(members[i] >= 0, i < number);
    sum += number;
  }
  CHECK_EQUAL(sum, count);
}

struct seen {
  int calls;
  int tags[64];
  int sources[64];
  unsigned long long bytes[64];
  unsigned long long queued[64];
  MPI_Count latest;
};

static void on_message(MPI_T_event_instance instance,
                       MPI_T_event_registration registration,
                       MPI_T_cb_safety safety,
                       void* data) {
  struct seen* seen = data;
  unsigned long long copy[elements_max];
  MPI_Count time;
  int source = -1, tag, i = seen->calls;
  (void)registration;
  CHECK(i < 64);
  CHECK_EQUAL(safety, MPI_T_CB_REQUIRE_NONE);
  CHECK_EQUAL(MPI_T_event_read(instance, 0, &seen->sources[i]), MPI_SUCCESS);
  CHECK_EQUAL(MPI_T_event_read(instance, 1, &seen->tags[i]), MPI_SUCCESS);
  CHECK_EQUAL(MPI_T_event_read(instance, 2, &seen->bytes[i]), MPI_SUCCESS);
  CHECK_EQUAL(MPI_T_event_read(instance, 3, &seen->queued[i]), MPI_SUCCESS);
  CHECK_EQUAL(MPI_T_event_read(instance, 4, &time), MPI_T_ERR_INVALID_INDEX);
  CHECK_EQUAL(MPI_T_event_read(instance, -1, &time), MPI_T_ERR_INVALID_INDEX);
  CHECK_EQUAL(MPI_T_event_copy(instance, copy), MPI_SUCCESS);
  memcpy(&tag, &copy[1], sizeof tag);
  CHECK_EQUAL(tag, seen->tags[i]);
  CHECK_EQUAL(copy[2], seen->bytes[i]);
  CHECK_EQUAL(copy[3], seen->queued[i]);
  CHECK_EQUAL(MPI_T_event_get_source(instance, &source), MPI_SUCCESS);
  CHECK_EQUAL(source, 0);
  CHECK_EQUAL(MPI_T_event_get_timestamp(instance, &time), MPI_SUCCESS);
  CHECK(time >= seen->latest);
  seen->latest = time;
  seen->calls++;
}

// Messages of a rank to itself, of which no other event comes between.
static void messages(MPI_Comm comm) {
  enum { depth = 37 };

  static struct seen seen;
  MPI_T_event_registration registration = registration_of("sorrel_unexpected_message");
  MPI_Count before, after;
  const int me = rank_in(comm);
  int values[depth] = {0}, i;
  // Without a callback, nothing is observed.
  MPI_Send(values, 1, MPI_INT, me, 99, comm);
  CHECK_EQUAL(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL,
                                            &seen, on_message),
              MPI_SUCCESS);
  MPI_T_source_get_timestamp(0, &before);
  for (i = 0; i < depth; i++) {
    MPI_Send(values, i % 3, MPI_INT, me, i, comm);
    // At the end of the call in which it has happened.
    CHECK_EQUAL(seen.calls, i + 1);
  }
  MPI_T_source_get_timestamp(0, &after);
  for (i = 0; i < depth; i++) {
    CHECK_EQUAL(seen.sources[i], me);
    CHECK_EQUAL(seen.tags[i], i);
    CHECK_EQUAL(seen.bytes[i], (i % 3) * sizeof(int));
    if (i > 0 && size_of(comm) == 1) CHECK_EQUAL(seen.queued[i], seen.queued[i - 1] + 1);
  }
  CHECK(seen.latest >= before && seen.latest <= after);
  MPI_Recv(values, 1, MPI_INT, me, 99, comm, MPI_STATUS_IGNORE);
  for (i = 0; i < depth; i++)
    MPI_Recv(values, depth, MPI_INT, me, i, comm, MPI_STATUS_IGNORE);
  // A message that its receive awaits is none.
  MPI_Sendrecv(values, 1, MPI_INT, me, 0, values + 1, 1, MPI_INT, me, 0, comm, MPI_STATUS_IGNORE);
  CHECK(seen.calls == depth || seen.calls == depth + 1);
  const int calls = seen.calls;
  // Removed.
  CHECK_EQUAL(
      MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, NULL),
      MPI_SUCCESS);
  MPI_Send(values, 1, MPI_INT, me, 0, comm);
  MPI_Recv(values, 1, MPI_INT, me, 0, comm, MPI_STATUS_IGNORE);
  CHECK_EQUAL(seen.calls, calls);
  end(registration);
}

struct counted {
  MPI_Comm comm;
  int restricted, thread_safe, signal_safe, dropped_calls, flooded, freed;
  MPI_Count dropped;
  MPI_T_event_registration other;
};

static void on_restricted(MPI_T_event_instance instance,
                          MPI_T_event_registration registration,
                          MPI_T_cb_safety safety,
                          void* data) {
  (void)instance, (void)registration, (void)safety;
  ((struct counted*)data)->restricted++;
}

static void on_thread_safe(MPI_T_event_instance instance,
                           MPI_T_event_registration registration,
                           MPI_T_cb_safety safety,
                           void* data) {
  (void)instance, (void)registration, (void)safety;
  ((struct counted*)data)->thread_safe++;
}

static void on_signal_safe(MPI_T_event_instance instance,
                           MPI_T_event_registration registration,
                           MPI_T_cb_safety safety,
                           void* data) {
  (void)instance, (void)registration, (void)safety;
  ((struct counted*)data)->signal_safe++;
}

static void message_to_self(MPI_Comm comm, int tag) {
  int value = 0;
  MPI_Send(&value, 1, MPI_INT, rank_in(comm), tag, comm);
}

static void receive_from_self(MPI_Comm comm, int tag) {
  int value;
  MPI_Recv(&value, 1, MPI_INT, rank_in(comm), tag, comm, MPI_STATUS_IGNORE);
}

// Among several callbacks, the one that requires least is called. Each registration has its own.
static void levels(MPI_Comm comm) {
  static struct counted counted;
  MPI_T_event_registration first = registration_of("sorrel_unexpected_message");
  MPI_T_event_registration second = registration_of("sorrel_unexpected_message");
  MPI_Info info;
  CHECK_EQUAL(MPI_T_event_register_callback(first, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE,
                                            MPI_INFO_NULL, &counted, on_signal_safe),
              MPI_SUCCESS);
  message_to_self(comm, 0);
  CHECK_EQUAL(counted.signal_safe, 1);
  CHECK_EQUAL(MPI_T_event_register_callback(first, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_INFO_NULL,
                                            &counted, on_restricted),
              MPI_SUCCESS);
  CHECK_EQUAL(MPI_T_event_register_callback(second, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL,
                                            &counted, on_thread_safe),
              MPI_SUCCESS);
  message_to_self(comm, 0);
  CHECK_EQUAL(counted.signal_safe, 1);
  CHECK_EQUAL(counted.restricted, 1);
  CHECK_EQUAL(counted.thread_safe, 1);
  receive_from_self(comm, 0);
  receive_from_self(comm, 0);
  CHECK_EQUAL(MPI_T_event_callback_get_info(first, MPI_T_CB_REQUIRE_MPI_RESTRICTED, &info),
              MPI_SUCCESS);
  CHECK_EQUAL(MPI_T_event_callback_set_info(first, MPI_T_CB_REQUIRE_MPI_RESTRICTED, info),
              MPI_SUCCESS);
  CHECK_EQUAL(MPI_T_event_handle_set_info(first, info), MPI_SUCCESS);
  MPI_Info_free(&info);
  CHECK_EQUAL(MPI_T_event_handle_get_info(first, &info), MPI_SUCCESS);
  MPI_Info_free(&info);
  end(first);
  end(second);
}

// More than an implementation may keep: sent by a callback, so that no call ends meanwhile.
enum { flood = 1500 };

static void on_flood(MPI_T_event_instance instance,
                     MPI_T_event_registration registration,
                     MPI_T_cb_safety safety,
                     void* data) {
  struct counted* counted = data;
  int i;
  (void)instance, (void)registration, (void)safety;
  counted->restricted++;
  if (counted->flooded++ != 0) return;
  for (i = 0; i < flood; i++)
    message_to_self(counted->comm, 1);
  for (i = 0; i < flood; i++)
    receive_from_self(counted->comm, 1);
}

static void on_dropped(MPI_Count count,
                       MPI_T_event_registration registration,
                       int source,
                       MPI_T_cb_safety safety,
                       void* data) {
  struct counted* counted = data;
  (void)registration, (void)safety;
  CHECK_EQUAL(source, 0);
  CHECK(count > 0);
  counted->dropped_calls++;
  counted->dropped += count;
}

static void drops(MPI_Comm comm) {
  static struct counted counted;
  MPI_T_event_registration registration = registration_of("sorrel_unexpected_message");
  counted.comm = comm;
  CHECK_EQUAL(MPI_T_event_set_dropped_handler(registration, on_dropped), MPI_SUCCESS);
  CHECK_EQUAL(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL,
                                            &counted, on_flood),
              MPI_SUCCESS);
  message_to_self(comm, 0);
  receive_from_self(comm, 0);
  call_mpi(comm);
  CHECK_EQUAL(counted.dropped_calls, 1);
  // Each event is delivered or dropped.
  CHECK_EQUAL(counted.restricted + counted.dropped, flood + 1);
  end(registration);
}

static void on_freed(MPI_T_event_registration registration, MPI_T_cb_safety safety, void* data) {
  (void)registration;
  CHECK_EQUAL(safety, MPI_T_CB_REQUIRE_NONE);
  ((struct counted*)data)->freed++;
}

// Frees its own registration and another one.
static void on_end(MPI_T_event_instance instance,
                   MPI_T_event_registration registration,
                   MPI_T_cb_safety safety,
                   void* data) {
  struct counted* counted = data;
  (void)instance, (void)safety;
  counted->restricted++;
  CHECK_EQUAL(MPI_T_event_handle_free(registration, data, on_freed), MPI_SUCCESS);
  CHECK_EQUAL(MPI_T_event_handle_free(counted->other, data, on_freed), MPI_SUCCESS);
  // After the callback, which may still use its data.
  CHECK_EQUAL(counted->freed, 0);
  CHECK_EQUAL(MPI_T_event_handle_free(registration, data, on_freed), MPI_T_ERR_INVALID_HANDLE);
}

static void ends(MPI_Comm comm) {
  static struct counted counted;
  MPI_T_event_registration registration = registration_of("sorrel_unexpected_message");
  counted.other = registration_of("sorrel_unexpected_message");
  MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &counted,
                                on_end);
  MPI_T_event_register_callback(counted.other, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &counted,
                                on_restricted);
  message_to_self(comm, 0);
  CHECK_EQUAL(counted.restricted, 1);
  CHECK_EQUAL(counted.freed, 2);
  message_to_self(comm, 0);
  CHECK_EQUAL(counted.restricted, 1);
  receive_from_self(comm, 0);
  receive_from_self(comm, 0);
  CHECK_EQUAL(MPI_T_event_handle_free(registration, &counted, on_freed), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQUAL(counted.freed, 2);
}

struct counter {
  MPI_T_pvar_session session;
  MPI_T_pvar_handle handle;
};

static struct counter counter_of(const char* name) {
  struct counter counter;
  int index = -1, elements;
  CHECK_EQUAL(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index), MPI_SUCCESS);
  MPI_T_pvar_session_create(&counter.session);
  CHECK_EQUAL(MPI_T_pvar_handle_alloc(counter.session, index, NULL, &counter.handle, &elements),
              MPI_SUCCESS);
  return counter;
}

// Element 1 of the worker's events: how often.
static void add_times(MPI_T_event_instance instance,
                      MPI_T_event_registration registration,
                      MPI_T_cb_safety safety,
                      void* data) {
  unsigned long long times = 0;
  (void)registration, (void)safety;
  CHECK_EQUAL(MPI_T_event_read(instance, 1, &times), MPI_SUCCESS);
  CHECK(times > 0);
  ((struct counted*)data)->restricted += (int)times;
}

// As many sleeps and migrations of the worker as its counters tell.
static void workers(MPI_Comm comm) {
  static struct counted parked, migrated;
  struct counter parks = counter_of("sorrel_parks");
  struct counter migrations = counter_of("sorrel_migrations");
  MPI_T_event_registration park = registration_of("sorrel_worker_park");
  MPI_T_event_registration migration = registration_of("sorrel_worker_migration");
  unsigned long long value = 0;
  MPI_T_event_register_callback(park, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &parked, add_times);
  MPI_T_event_register_callback(migration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &migrated,
                                add_times);
  MPI_T_pvar_start(parks.session, parks.handle);
  MPI_T_pvar_start(migrations.session, migrations.handle);
  MPI_Barrier(comm);
  usleep(2000);
  MPI_Barrier(comm);
  call_mpi(comm);
  MPI_T_pvar_read(parks.session, parks.handle, &value);
  CHECK_EQUAL(parked.restricted, value);
  MPI_T_pvar_read(migrations.session, migrations.handle, &value);
  CHECK_EQUAL(migrated.restricted, value);
  end(park);
  end(migration);
  MPI_T_pvar_session_free(&parks.session);
  MPI_T_pvar_session_free(&migrations.session);
}

static void on_pool(MPI_T_event_instance instance,
                    MPI_T_event_registration registration,
                    MPI_T_cb_safety safety,
                    void* data) {
  struct counted* counted = data;
  unsigned long long bytes;
  int state;
  (void)registration, (void)safety;
  CHECK_EQUAL(MPI_T_event_read(instance, 0, &state), MPI_SUCCESS);
  CHECK_EQUAL(MPI_T_event_read(instance, 1, &bytes), MPI_SUCCESS);
  // They alternate.
  CHECK_EQUAL(state, (counted->restricted + 1) % 2);
  CHECK((bytes >= (unsigned long long)counted->flooded) == (state != 0));
  counted->restricted++;
}

// Messages of a rank to itself, until its pool is full; only where the rank has it alone.
static void pool(MPI_Comm comm) {
  enum { bytes = 16000 };

  static struct counted counted;
  static char message[bytes];
  MPI_T_event_registration registration;
  MPI_T_cvar_handle limit;
  unsigned long long bytes_max = 0;
  int index = -1, elements, sent, i;
  if (size_of(comm) != 1) return;
  MPI_T_cvar_get_index("sorrel_pool_bytes_max", &index);
  MPI_T_cvar_handle_alloc(index, NULL, &limit, &elements);
  MPI_T_cvar_read(limit, &bytes_max);
  MPI_T_cvar_handle_free(&limit);
  counted.flooded = (int)bytes_max;
  registration = registration_of("sorrel_pool_state");
  MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &counted,
                                on_pool);
  // A message takes less than 32 KiB, and at least its bytes.
  for (sent = 0; counted.restricted == 0; sent++) {
    CHECK(sent <= (int)(bytes_max / bytes) + 1);
    MPI_Send(message, bytes, MPI_BYTE, 0, 0, comm);
  }
  for (i = 0; i < sent; i++)
    MPI_Recv(message, bytes, MPI_BYTE, 0, 0, comm, MPI_STATUS_IGNORE);
  CHECK_EQUAL(counted.restricted, 2);
  end(registration);
}

static void errors(void) {
  MPI_T_event_registration registration = registration_of("sorrel_rank_move"), none;
  MPI_T_event_instance instance = NULL;
  MPI_Count time;
  int index;
  CHECK_EQUAL(MPI_T_event_get_num(NULL), MPI_T_ERR_INVALID);
  CHECK_EQUAL(MPI_T_event_get_index("nothing", &index), MPI_T_ERR_INVALID_NAME);
  CHECK_EQUAL(MPI_T_event_get_index(NULL, &index), MPI_T_ERR_INVALID);
  CHECK_EQUAL(
      MPI_T_event_get_info(5, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
      MPI_T_ERR_INVALID_INDEX);
  CHECK_EQUAL(MPI_T_event_handle_alloc(-1, NULL, MPI_INFO_NULL, &none), MPI_T_ERR_INVALID_INDEX);
  CHECK_EQUAL(MPI_T_event_handle_alloc(5, NULL, MPI_INFO_NULL, &none), MPI_T_ERR_INVALID_INDEX);
  CHECK_EQUAL(MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, NULL), MPI_T_ERR_INVALID);
  CHECK_EQUAL(MPI_T_event_register_callback(registration, (MPI_T_cb_safety)7, MPI_INFO_NULL, NULL,
                                            on_restricted),
              MPI_T_ERR_INVALID);
  CHECK_EQUAL(MPI_T_event_handle_get_info(registration, NULL), MPI_T_ERR_INVALID);
  CHECK_EQUAL(MPI_T_event_callback_get_info(registration, MPI_T_CB_REQUIRE_NONE, NULL),
              MPI_T_ERR_INVALID);
  CHECK_EQUAL(MPI_T_event_set_dropped_handler(NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQUAL(MPI_T_event_handle_set_info(NULL, MPI_INFO_NULL), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQUAL(MPI_T_event_handle_free(NULL, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
  // An instance ends with its callbacks.
  CHECK_EQUAL(MPI_T_event_read(instance, 0, &index), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQUAL(MPI_T_event_copy(instance, &index), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQUAL(MPI_T_event_get_source(instance, &index), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQUAL(MPI_T_event_get_timestamp(instance, &time), MPI_T_ERR_INVALID_HANDLE);
  end(registration);
}

int main(int argc, char** argv) {
  static struct counted early;
  MPI_T_event_registration registration;
  int provided;
  MPI_Comm comm;
  // Registered before MPI_Init, where a rank may not exist.
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  registration = registration_of("sorrel_unexpected_message");
  CHECK_EQUAL(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL,
                                            &early, on_restricted),
              MPI_SUCCESS);
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  message_to_self(comm, 0);
  receive_from_self(comm, 0);
  CHECK_EQUAL(early.restricted, 1);
  end(registration);

  descriptions();
  messages(comm);
  levels(comm);
  drops(comm);
  ends(comm);
  workers(comm);
  pool(comm);
  errors();

  // Ends with the interface.
  early.restricted = 0;
  registration = registration_of("sorrel_unexpected_message");
  MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &early,
                                on_restricted);
  message_to_self(comm, 0);
  CHECK_EQUAL(MPI_T_finalize(), MPI_SUCCESS);
  message_to_self(comm, 0);
  CHECK_EQUAL(early.restricted, 1);
  receive_from_self(comm, 0);
  receive_from_self(comm, 0);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
