// The tool information interface: every variable of the tables is read; queues, counters and the
// control variable of a communicator show what the rank does; wrong arguments return their code.
#include "../check.h"

enum { text_bytes = 512 };

static int cvar_index(const char* name) {
  int index = -1;
  CHECK_EQUAL(MPI_T_cvar_get_index(name, &index), MPI_SUCCESS);
  return index;
}

static int pvar_index(const char* name, int var_class) {
  int index = -1;
  CHECK_EQUAL(MPI_T_pvar_get_index(name, var_class, &index), MPI_SUCCESS);
  return index;
}

static void check_text(const char* text, int length) {
  CHECK(length > 1 && length <= text_bytes);
  CHECK_EQUAL(strlen(text) + 1, length);
}

static void check_enum(MPI_T_enum enumeration, MPI_Datatype type) {
  int count = 0, value, length = text_bytes, item;
  char name[text_bytes];
  if (enumeration == MPI_T_ENUM_NULL) return;
  CHECK(type == MPI_INT);
  CHECK_EQUAL(MPI_T_enum_get_info(enumeration, &count, name, &length), MPI_SUCCESS);
  check_text(name, length);
  CHECK(count > 0);
  for (item = 0; item < count; item++) {
    length = text_bytes;
    CHECK_EQUAL(MPI_T_enum_get_item(enumeration, item, &value, name, &length), MPI_SUCCESS);
    check_text(name, length);
  }
  CHECK_EQUAL(MPI_T_enum_get_item(enumeration, count, &value, name, &length),
              MPI_T_ERR_INVALID_INDEX);
  CHECK_EQUAL(MPI_T_enum_get_item(enumeration, -1, &value, name, &length), MPI_T_ERR_INVALID_INDEX);
}

static unsigned long long value_in(MPI_Datatype type, const unsigned long long* large) {
  int small;
  if (type != MPI_INT) return *large;
  memcpy(&small, large, sizeof small);
  return (unsigned long long)small;
}

static void control_variables(MPI_Comm comm) {
  int count = 0, index, found, elements;
  char name[text_bytes], description[text_bytes];
  CHECK_EQUAL(MPI_T_cvar_get_num(&count), MPI_SUCCESS);
  CHECK(count >= 10);
  for (index = 0; index < count; index++) {
    int name_length = text_bytes, length = text_bytes, verbosity, bind, scope;
    unsigned long long value = 0;
    MPI_Datatype type;
    MPI_T_enum enumeration;
    MPI_T_cvar_handle handle;
    CHECK_EQUAL(MPI_T_cvar_get_info(index, name, &name_length, &verbosity, &type, &enumeration,
                                    description, &length, &bind, &scope),
                MPI_SUCCESS);
    check_text(name, name_length);
    check_text(description, length);
    check_enum(enumeration, type);
    CHECK_EQUAL(MPI_T_cvar_get_index(name, &found), MPI_SUCCESS);
    CHECK_EQUAL(found, index);
    CHECK(verbosity >= MPI_T_VERBOSITY_USER_BASIC && verbosity <= MPI_T_VERBOSITY_MPIDEV_ALL);
    CHECK(bind == MPI_T_BIND_NO_OBJECT || bind == MPI_T_BIND_MPI_COMM);
    CHECK_EQUAL(MPI_T_cvar_handle_alloc(index, &comm, &handle, &elements), MPI_SUCCESS);
    CHECK_EQUAL(elements, 1);
    CHECK_EQUAL(MPI_T_cvar_read(handle, &value), MPI_SUCCESS);
    value = value_in(type, &value);
    CHECK_EQUAL(MPI_T_cvar_write(handle, &value),
                scope == MPI_T_SCOPE_LOCAL ? MPI_SUCCESS : MPI_T_ERR_CVAR_SET_NEVER);
    if (strcmp(name, "sorrel_eager_bytes_max") == 0) CHECK(value >= 512);
    if (strcmp(name, "sorrel_pool_bytes_max") == 0) CHECK(value >= 1 << 20);
    if (strcmp(name, "sorrel_workers") == 0) CHECK(value >= 1 && value <= 1024);
    CHECK_EQUAL(MPI_T_cvar_handle_free(&handle), MPI_SUCCESS);
    CHECK(handle == MPI_T_CVAR_HANDLE_NULL);
  }
  // Every pointer may be null, and a short text is cut.
  CHECK_EQUAL(MPI_T_cvar_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
              MPI_SUCCESS);
  int length = 4, whole = 0;
  CHECK_EQUAL(MPI_T_cvar_get_info(0, name, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
              MPI_SUCCESS);
  CHECK_EQUAL(strlen(name), 3);
  CHECK_EQUAL(MPI_T_cvar_get_info(0, NULL, &whole, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
              MPI_SUCCESS);
  CHECK_EQUAL(whole, length);
}

// A setting of one communicator: its duplicate has its own.
static void control_variable_of_a_communicator(MPI_Comm comm) {
  const int index = cvar_index("sorrel_comm_read_late");
  MPI_T_cvar_handle handle, of_world;
  MPI_Comm world = MPI_COMM_WORLD;
  int elements, value = 1, got = -1;
  CHECK_EQUAL(MPI_T_cvar_handle_alloc(index, &comm, &handle, &elements), MPI_SUCCESS);
  CHECK_EQUAL(MPI_T_cvar_handle_alloc(index, &world, &of_world, &elements), MPI_SUCCESS);
  CHECK_EQUAL(MPI_T_cvar_write(handle, &value), MPI_SUCCESS);
  CHECK_EQUAL(MPI_T_cvar_read(handle, &got), MPI_SUCCESS);
  CHECK_EQUAL(got, 1);
  CHECK_EQUAL(MPI_T_cvar_read(of_world, &got), MPI_SUCCESS);
  CHECK_EQUAL(got, 0);
  value = 0;
  CHECK_EQUAL(MPI_T_cvar_write(handle, &value), MPI_SUCCESS);
  CHECK_EQUAL(MPI_T_cvar_read(handle, &got), MPI_SUCCESS);
  CHECK_EQUAL(got, 0);
  CHECK_EQUAL(MPI_T_cvar_handle_alloc(index, NULL, &handle, &elements), MPI_T_ERR_INVALID);
  MPI_T_cvar_handle_free(&handle);
  MPI_T_cvar_handle_free(&of_world);
}

struct reader {
  MPI_T_pvar_session session;
  MPI_T_pvar_handle handle;
};

static struct reader reader_of(const char* name, int var_class, MPI_Comm* comm) {
  struct reader reader;
  int elements;
  CHECK_EQUAL(MPI_T_pvar_session_create(&reader.session), MPI_SUCCESS);
  CHECK_EQUAL(MPI_T_pvar_handle_alloc(reader.session, pvar_index(name, var_class), comm,
                                      &reader.handle, &elements),
              MPI_SUCCESS);
  return reader;
}

static unsigned long long value_of(const struct reader* reader) {
  unsigned long long value = 0;
  CHECK_EQUAL(MPI_T_pvar_read(reader->session, reader->handle, &value), MPI_SUCCESS);
  return value;
}

static void end(struct reader* reader) {
  // The handles of a session end with it.
  CHECK_EQUAL(MPI_T_pvar_session_free(&reader->session), MPI_SUCCESS);
  CHECK(reader->session == MPI_T_PVAR_SESSION_NULL);
}

static void queues(MPI_Comm comm) {
  struct reader posted = reader_of("sorrel_posted_receives", MPI_T_PVAR_CLASS_LEVEL, NULL);
  struct reader unexpected = reader_of("sorrel_unexpected_messages", MPI_T_PVAR_CLASS_LEVEL, NULL);
  struct reader pool = reader_of("sorrel_pool_bytes", MPI_T_PVAR_CLASS_LEVEL, NULL);
  const int me = rank_in(comm);

  enum { depth = 37 };

  MPI_Request requests[depth];
  int values[depth], i;
  const unsigned long long posted_before = value_of(&posted);
  for (i = 0; i < depth; i++)
    MPI_Irecv(&values[i], 1, MPI_INT, me, i, comm, &requests[i]);
  CHECK_EQUAL(value_of(&posted), posted_before + depth);
  for (i = 0; i < depth; i++)
    MPI_Send(&i, 1, MPI_INT, me, i, comm);
  CHECK_EQUAL(value_of(&posted), posted_before);
  MPI_Waitall(depth, requests, MPI_STATUSES_IGNORE);
  const unsigned long long before = value_of(&unexpected);
  for (i = 0; i < depth; i++)
    MPI_Send(&i, 1, MPI_INT, me, i, comm);
  CHECK_EQUAL(value_of(&unexpected), before + depth);
  CHECK(value_of(&pool) >= depth * sizeof(int));
  for (i = 0; i < depth; i++)
    MPI_Recv(&values[i], 1, MPI_INT, me, i, comm, MPI_STATUS_IGNORE);
  CHECK_EQUAL(value_of(&unexpected), before);
  end(&posted);
  end(&unexpected);
  end(&pool);
}

static void counters(MPI_Comm comm) {
  struct reader barriers = reader_of("sorrel_comm_barriers", MPI_T_PVAR_CLASS_COUNTER, &comm);
  unsigned long long value = 0, more = 5;
  int i;
  for (i = 0; i < 3; i++)
    MPI_Barrier(comm);
  // Counts nothing before its start and after its stop.
  CHECK_EQUAL(value_of(&barriers), 0);
  CHECK_EQUAL(MPI_T_pvar_start(barriers.session, barriers.handle), MPI_SUCCESS);
  CHECK_EQUAL(MPI_T_pvar_start(barriers.session, barriers.handle), MPI_SUCCESS);
  for (i = 0; i < 4; i++)
    MPI_Barrier(comm);
  CHECK_EQUAL(value_of(&barriers), size_of(comm) > 1 ? 4 : value_of(&barriers));
  CHECK_EQUAL(MPI_T_pvar_stop(barriers.session, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS);
  MPI_Barrier(comm);
  const unsigned long long stopped = value_of(&barriers);
  CHECK_EQUAL(stopped, size_of(comm) > 1 ? 4 : stopped);
  CHECK_EQUAL(MPI_T_pvar_readreset(barriers.session, barriers.handle, &value), MPI_SUCCESS);
  CHECK_EQUAL(value, stopped);
  CHECK_EQUAL(value_of(&barriers), 0);
  CHECK_EQUAL(MPI_T_pvar_write(barriers.session, barriers.handle, &more), MPI_SUCCESS);
  CHECK_EQUAL(value_of(&barriers), 5);
  CHECK_EQUAL(MPI_T_pvar_reset(barriers.session, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS);
  CHECK_EQUAL(value_of(&barriers), 0);
  end(&barriers);
}

static void buffers(MPI_Comm comm) {
  struct reader used = reader_of("sorrel_comm_buffered_bytes", MPI_T_PVAR_CLASS_LEVEL, &comm);

  enum { bytes = 1000 };

  char* buffer = malloc(bytes + MPI_BSEND_OVERHEAD);
  char message[bytes] = {0};
  int size;
  CHECK_EQUAL(value_of(&used), 0);
  MPI_Comm_attach_buffer(comm, buffer, bytes + MPI_BSEND_OVERHEAD);
  MPI_Bsend(message, bytes, MPI_BYTE, rank_in(comm), 0, comm);
  CHECK(value_of(&used) >= bytes);
  MPI_Recv(message, bytes, MPI_BYTE, rank_in(comm), 0, comm, MPI_STATUS_IGNORE);
  MPI_Comm_detach_buffer(comm, &buffer, &size);
  CHECK_EQUAL(value_of(&used), 0);
  free(buffer);
  end(&used);
}

static void heap(void) {
  struct reader used = reader_of("sorrel_heap_bytes", MPI_T_PVAR_CLASS_LEVEL, NULL);

  enum { bytes = 3 << 20 };

  const unsigned long long before = value_of(&used);
  // A compiler may leave out a block that is not read.
  char* volatile block = malloc(bytes);
  block[bytes - 1] = 1;
  const unsigned long long during = value_of(&used);
  free(block);
  // 0: the rank is a process, and has the heap of the C library.
  if (during != 0) {
    CHECK(during >= before + bytes);
    CHECK(value_of(&used) < before + bytes);
  }
  end(&used);
}

static void performance_variables(MPI_Comm comm) {
  int count = 0, index, found, elements;
  char name[text_bytes], description[text_bytes];
  MPI_T_pvar_session session;
  CHECK_EQUAL(MPI_T_pvar_get_num(&count), MPI_SUCCESS);
  CHECK(count >= 8);
  CHECK_EQUAL(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
  for (index = 0; index < count; index++) {
    int name_length = text_bytes, length = text_bytes, verbosity, var_class, bind, readonly,
        continuous, atomic;
    unsigned long long value = 0;
    MPI_Datatype type;
    MPI_T_enum enumeration;
    MPI_T_pvar_handle handle;
    CHECK_EQUAL(
        MPI_T_pvar_get_info(index, name, &name_length, &verbosity, &var_class, &type, &enumeration,
                            description, &length, &bind, &readonly, &continuous, &atomic),
        MPI_SUCCESS);
    check_text(name, name_length);
    check_text(description, length);
    check_enum(enumeration, type);
    CHECK(type == (var_class == MPI_T_PVAR_CLASS_STATE ? MPI_INT : MPI_UNSIGNED_LONG_LONG));
    CHECK_EQUAL(MPI_T_pvar_get_index(name, var_class, &found), MPI_SUCCESS);
    CHECK_EQUAL(found, index);
    CHECK_EQUAL(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_TIMER, &found), MPI_T_ERR_INVALID_NAME);
    CHECK_EQUAL(MPI_T_pvar_handle_alloc(session, index, &comm, &handle, &elements), MPI_SUCCESS);
    CHECK_EQUAL(MPI_T_pvar_read(session, handle, &value), MPI_SUCCESS);
    CHECK_EQUAL(MPI_T_pvar_start(session, handle),
                continuous ? MPI_T_ERR_PVAR_NO_STARTSTOP : MPI_SUCCESS);
    CHECK_EQUAL(MPI_T_pvar_stop(session, handle),
                continuous ? MPI_T_ERR_PVAR_NO_STARTSTOP : MPI_SUCCESS);
    CHECK_EQUAL(MPI_T_pvar_reset(session, handle),
                readonly ? MPI_T_ERR_PVAR_NO_WRITE : MPI_SUCCESS);
    CHECK_EQUAL(MPI_T_pvar_write(session, handle, &value),
                readonly ? MPI_T_ERR_PVAR_NO_WRITE : MPI_SUCCESS);
    CHECK_EQUAL(MPI_T_pvar_readreset(session, handle, &value),
                atomic ? MPI_SUCCESS : MPI_T_ERR_PVAR_NO_ATOMIC);
    if (index % 2 == 0) {
      CHECK_EQUAL(MPI_T_pvar_handle_free(session, &handle), MPI_SUCCESS);
      CHECK(handle == MPI_T_PVAR_HANDLE_NULL);
    }
  }
  CHECK_EQUAL(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS);
  CHECK_EQUAL(MPI_T_pvar_session_free(&session), MPI_SUCCESS);
}

// Every variable is in one category, and every category below the first one.
static void categories(void) {
  int count = 0, cvars = 0, pvars = 0, cvar_sum = 0, pvar_sum = 0, index, found, number, i;
  int members[64];
  char name[text_bytes], description[text_bytes];
  CHECK_EQUAL(MPI_T_category_get_num(&count), MPI_SUCCESS);
  MPI_T_cvar_get_num(&cvars);
  MPI_T_pvar_get_num(&pvars);
  for (index = 0; index < count; index++) {
    int name_length = text_bytes, length = text_bytes, own_cvars, own_pvars, below;
    CHECK_EQUAL(MPI_T_category_get_info(index, name, &name_length, description, &length, &own_cvars,
                                        &own_pvars, &below),
                MPI_SUCCESS);
    check_text(name, name_length);
    CHECK_EQUAL(MPI_T_category_get_index(name, &found), MPI_SUCCESS);
    CHECK_EQUAL(found, index);
    CHECK_EQUAL(below, index == 0 ? count - 1 : 0);
    for (i = 0; i < 64; i++)
      members[i] = -1;
    CHECK_EQUAL(MPI_T_category_get_cvars(index, 64, members), MPI_SUCCESS);
    for (i = 0; i < 64; i++)
      CHECK_EQUAL(members[i] >= 0, i < own_cvars);
    CHECK_EQUAL(MPI_T_category_get_pvars(index, 0, NULL), MPI_SUCCESS);
    CHECK_EQUAL(MPI_T_category_get_categories(index, 64, members), MPI_SUCCESS);
    for (i = 0; i < below; i++)
      CHECK(members[i] > 0 && members[i] < count);
    cvar_sum += own_cvars;
    pvar_sum += own_pvars;
  }
  CHECK_EQUAL(cvar_sum, cvars);
  CHECK_EQUAL(pvar_sum, pvars);
  CHECK_EQUAL(MPI_T_category_changed(&number), MPI_SUCCESS);
}

static void sources(void) {
  int count = -1, length = text_bytes;
  char name[text_bytes];
  MPI_Count ticks, most, first, second;
  MPI_T_source_order order;
  MPI_Info info;
  CHECK_EQUAL(MPI_T_source_get_num(&count), MPI_SUCCESS);
  CHECK_EQUAL(count, 1);
  CHECK_EQUAL(MPI_T_source_get_info(0, name, &length, NULL, NULL, &order, &ticks, &most, &info),
              MPI_SUCCESS);
  check_text(name, length);
  MPI_Info_free(&info);
  CHECK_EQUAL(MPI_T_source_get_timestamp(0, &first), MPI_SUCCESS);
  CHECK_EQUAL(MPI_T_source_get_timestamp(0, &second), MPI_SUCCESS);
  CHECK(first <= second && second <= most && ticks > 0);
  CHECK_EQUAL(MPI_T_source_get_timestamp(1, &second), MPI_T_ERR_INVALID_INDEX);
}

static void errors(void) {
  int index = 0, elements;
  unsigned long long value;
  MPI_T_pvar_session session, none = MPI_T_PVAR_SESSION_NULL;
  MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
  MPI_T_cvar_handle control = MPI_T_CVAR_HANDLE_NULL;
  MPI_Comm null = MPI_COMM_NULL;
  CHECK_EQUAL(MPI_T_cvar_get_index("nothing", &index), MPI_T_ERR_INVALID_NAME);
  CHECK_EQUAL(MPI_T_cvar_get_index(NULL, &index), MPI_T_ERR_INVALID);
  CHECK_EQUAL(MPI_T_pvar_get_index("nothing", MPI_T_PVAR_CLASS_LEVEL, &index),
              MPI_T_ERR_INVALID_NAME);
  CHECK_EQUAL(MPI_T_category_get_index("nothing", &index), MPI_T_ERR_INVALID_NAME);
  CHECK_EQUAL(MPI_T_cvar_get_info(-1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
              MPI_T_ERR_INVALID_INDEX);
  CHECK_EQUAL(MPI_T_cvar_handle_alloc(1000, NULL, &control, &elements), MPI_T_ERR_INVALID_INDEX);
  CHECK_EQUAL(
      MPI_T_cvar_handle_alloc(cvar_index("sorrel_comm_read_late"), &null, &control, &elements),
      MPI_T_ERR_INVALID);
  CHECK_EQUAL(MPI_T_cvar_read(control, &value), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQUAL(MPI_T_cvar_write(control, &value), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQUAL(MPI_T_cvar_handle_free(&control), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQUAL(MPI_T_pvar_handle_alloc(none, 0, NULL, &handle, &elements),
              MPI_T_ERR_INVALID_SESSION);
  CHECK_EQUAL(MPI_T_pvar_start(none, MPI_T_PVAR_ALL_HANDLES), MPI_T_ERR_INVALID_SESSION);
  CHECK_EQUAL(MPI_T_pvar_session_free(&none), MPI_T_ERR_INVALID_SESSION);
  CHECK_EQUAL(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
  CHECK_EQUAL(MPI_T_pvar_read(session, handle, &value), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQUAL(MPI_T_pvar_read(session, MPI_T_PVAR_ALL_HANDLES, &value), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQUAL(MPI_T_pvar_handle_free(session, &handle), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQUAL(MPI_T_pvar_session_free(&session), MPI_SUCCESS);
  CHECK_EQUAL(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &index, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
}

int main(int argc, char** argv) {
  int provided = -1, count = 0;
  CHECK_EQUAL(MPI_T_cvar_get_num(&count), MPI_T_ERR_NOT_INITIALIZED);
  CHECK_EQUAL(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
  CHECK_EQUAL(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
  CHECK_EQUAL(provided, MPI_THREAD_SINGLE);
  // Before MPI_Init.
  CHECK_EQUAL(MPI_T_cvar_get_num(&count), MPI_SUCCESS);
  MPI_T_cvar_handle early;
  unsigned long long eager = 0, eager_later = 0;
  CHECK_EQUAL(MPI_T_cvar_handle_alloc(cvar_index("sorrel_inline_bytes_max"), NULL, &early, &count),
              MPI_SUCCESS);
  CHECK_EQUAL(MPI_T_cvar_read(early, &eager), MPI_SUCCESS);
  MPI_Init(&argc, &argv);
  // The handle still is one.
  CHECK_EQUAL(MPI_T_cvar_read(early, &eager_later), MPI_SUCCESS);
  CHECK_EQUAL(eager, eager_later);
  CHECK_EQUAL(MPI_T_cvar_handle_free(&early), MPI_SUCCESS);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  CHECK_EQUAL(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
  control_variables(comm);
  control_variable_of_a_communicator(comm);
  performance_variables(comm);
  queues(comm);
  counters(comm);
  buffers(comm);
  heap();
  categories();
  sources();
  errors();
  MPI_Comm_free(&comm);
  CHECK_EQUAL(MPI_T_finalize(), MPI_SUCCESS);
  MPI_Finalize();
  CHECK_EQUAL(MPI_T_cvar_get_num(&count), MPI_SUCCESS);
  CHECK_EQUAL(MPI_T_finalize(), MPI_SUCCESS);
  CHECK_EQUAL(MPI_T_cvar_get_num(&count), MPI_T_ERR_NOT_INITIALIZED);
  return 0;
}
