// Every kind of object of MPI that a rank may have at a checkpoint. What each does is summed up in
// numbers before the checkpoint, and again after it: in the job that goes on, and in a restarted
// one, whose handles must be the same.
//
// usage: objects FILE DIE
//   DIE: rank 1 kills the process after the second checkpoint, unless the job was restarted.
//        objects - STEPS
//   Without a checkpoint, and without a file: sums up again and again, in so many steps with
//   collectives of all ranks, after which ranks may change their process.
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sorrel.h>

enum { type_count = 16, comm_count = 8, number_max = 400, length = 64, memory_length = 100000 };

static struct {
  MPI_Comm comms[comm_count];
  MPI_Comm between;
  MPI_Group group;
  MPI_Datatype types[type_count];
  MPI_Op op;
  MPI_Op large_op;
  MPI_Info info;
  MPI_Errhandler errhandler;
  MPI_Request requests[6];
  int* memory;
  MPI_File file;
  int keyval;
  int type_keyval;
  int error_class;
  int comm_number;
  int type_number;
  int* tag_ub;
} has;

static int rank;
static int size;
static int error_count;
static int deleted_count;
static int has_file;
static int to_send[3];
static int received[3];
static uint64_t numbers[number_max];
static int number_count;

static void add(uint64_t number) {
  if (number_count < number_max) numbers[number_count++] = number;
}

static void add_bytes(const void* bytes, size_t count) {
  uint64_t sum = 1469598103934665603u;
  for (size_t i = 0; i < count; ++i)
    sum = (sum ^ ((const unsigned char*)bytes)[i]) * 1099511628211u;
  add(sum);
}

static void add_products(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i)
    ((int*)inout)[i] = ((int*)inout)[i] * 3 + ((int*)in)[i];
}

static void add_large(void* in, void* inout, MPI_Count* count, MPI_Datatype* type) {
  (void)type;
  for (MPI_Count i = 0; i < *count; ++i)
    ((int*)inout)[i] += 2 * ((int*)in)[i];
}

static void count_error(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  error_count += *code == MPI_ERR_RANK;
}

static int count_deleted(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)comm;
  (void)keyval;
  deleted_count += *(int*)value == 11 && *(int*)extra == 13;
  return MPI_SUCCESS;
}

static void make_types(void) {
  MPI_Datatype* t = has.types;
  MPI_Datatype old;
  int lengths[2] = {2, 1};
  int places[2] = {3, 0};
  MPI_Aint bytes[2] = {24, 0};
  MPI_Count large_lengths[2] = {1, 2};
  MPI_Count large_bytes[2] = {0, 16};
  MPI_Datatype members[2] = {MPI_DOUBLE, MPI_INT};
  int sizes[2] = {4, 4};
  int parts[2] = {2, 3};
  int starts[2] = {1, 0};
  int distributions[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK};
  int arguments[2] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
  int grid[2] = {2, 2};
  MPI_Type_contiguous(3, MPI_INT, &t[0]);
  MPI_Type_vector(3, 2, 4, MPI_INT, &t[1]);
  MPI_Type_create_hvector(3, 1, 12, t[0], &t[2]);
  MPI_Type_indexed(2, lengths, places, MPI_SHORT, &t[3]);
  MPI_Type_create_hindexed(2, lengths, bytes, MPI_INT, &t[4]);
  MPI_Type_create_indexed_block(2, 2, places, MPI_INT, &t[5]);
  MPI_Type_create_hindexed_block(2, 1, bytes, MPI_INT, &t[6]);
  // An old type without a handle.
  MPI_Type_vector(2, 1, 2, MPI_INT, &old);
  members[1] = old;
  MPI_Type_create_struct(2, lengths, bytes, members, &t[7]);
  MPI_Type_free(&old);
  MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_INT, &t[8]);
  MPI_Type_create_darray(4, rank % 4, 2, sizes, distributions, arguments, grid, MPI_ORDER_C,
                         MPI_INT, &t[9]);
  MPI_Type_create_resized(t[3], -2, 40, &t[10]);
  MPI_Type_dup(t[10], &t[11]);
  MPI_Type_create_f90_real(10, 100, &t[12]);
  members[1] = MPI_INT;
  MPI_Type_create_struct_c(2, large_lengths, large_bytes, members, &t[13]);
  MPI_Type_vector_c(2, 1, 3, MPI_DOUBLE, &t[14]);
  MPI_Type_create_hvector_c(2, 1, 20, MPI_FLOAT, &t[15]);
  for (int i = 0; i < type_count; ++i)
    if (i != 12) MPI_Type_commit(&t[i]);
  MPI_Type_set_name(t[1], "a vector");
  MPI_Type_set_name(MPI_SHORT, "a short integer");
  static int extra = 13;
  static int value = 11;
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &has.type_keyval, &extra);
  MPI_Type_set_attr(t[1], has.type_keyval, &value);
  MPI_Type_set_attr(MPI_INT, has.type_keyval, &extra);
}

static void make_comms(void) {
  MPI_Comm* c = has.comms;
  int dims[2] = {size / 2, 2};
  int periods[2] = {1, 0};
  int keep[2] = {1, 0};
  int index[64];
  int edges[128];
  static int extra = 13;
  static int value = 11;
  for (int i = 0; i < size; ++i) {
    index[i] = 2 * (i + 1);
    edges[2 * i] = (i + 1) % size;
    edges[2 * i + 1] = (i + size - 1) % size;
  }
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, count_deleted, &has.keyval, &extra);
  MPI_Comm_set_attr(MPI_COMM_WORLD, has.keyval, &value);
  MPI_Comm_create_errhandler(count_error, &has.errhandler);
  MPI_Comm_dup(MPI_COMM_WORLD, &c[0]);
  MPI_Comm_set_name(c[0], "a duplicate");
  MPI_Comm_set_errhandler(c[0], has.errhandler);
  MPI_Info_create(&has.info);
  MPI_Info_set(has.info, "mpi_assert_no_any_tag", "true");
  MPI_Info_set(has.info, "a key", "a value");
  MPI_Comm_set_info(c[0], has.info);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &c[1]);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &c[2]);
  MPI_Cart_sub(c[2], keep, &c[3]);
  MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &c[4]);
  int source = (rank + 1) % size;
  int destination = (rank + size - 1) % size;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &source, &value, 1, &destination, &value,
                                 MPI_INFO_NULL, 0, &c[5]);
  MPI_Comm_dup(MPI_COMM_SELF, &c[6]);
  MPI_Comm_dup(c[2], &c[7]);
  MPI_Intercomm_create(c[1], 0, MPI_COMM_WORLD, rank % 2 == 0 ? size - 1 : size - 2, 5,
                       &has.between);
  MPI_Comm_group(c[1], &has.group);
  has.comm_number = MPI_Comm_toint(c[3]);
  has.type_number = MPI_Type_toint(has.types[4]);
}

static void make_others(const char* path) {
  int is_set = 0;
  MPI_Op_create(add_products, 0, &has.op);
  MPI_Op_create_c(add_large, 1, &has.large_op);
  MPI_Add_error_class(&has.error_class);
  MPI_Add_error_string(has.error_class, "an error of its own");
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &has.tag_ub, &is_set);
  const MPI_Comm comms[3] = {has.comms[0], MPI_COMM_WORLD, MPI_COMM_SELF};
  for (int i = 0; i < 3; ++i) {
    const int to = i == 2 ? 0 : (rank + 1) % size;
    const int from = i == 2 ? 0 : (rank + size - 1) % size;
    MPI_Send_init(&to_send[i], 1, MPI_INT, to, 6, comms[i], &has.requests[2 * i]);
    MPI_Recv_init(&received[i], 1, MPI_INT, from, 6, comms[i], &has.requests[2 * i + 1]);
  }
  MPI_Alloc_mem(memory_length * sizeof(int), MPI_INFO_NULL, &has.memory);
  for (int i = 0; i < memory_length; ++i)
    has.memory[i] = rank * i;
  if (!has_file) return;
  MPI_File_open(has.comms[2], path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &has.file);
  MPI_File_set_view(has.file, 4 * rank, MPI_INT, has.types[1], "native", MPI_INFO_NULL);
  for (int i = 0; i < 10; ++i) {
    const int value = 100 * rank + i;
    MPI_File_write_at_all(has.file, 10 * rank + i, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
  }
  MPI_File_seek(has.file, 3, MPI_SEEK_SET);
  MPI_File_seek_shared(has.file, 7, MPI_SEEK_SET);
}

static void add_types(void) {
  unsigned char from[1024];
  unsigned char packed[1024];
  for (int i = 0; i < 1024; ++i)
    from[i] = (unsigned char)(i * 7 + i / 256);
  for (int i = 0; i < type_count; ++i) {
    int position = 0;
    int counts[4];
    MPI_Aint lb;
    MPI_Aint extent;
    MPI_Count large[4];
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Type_get_envelope_c(has.types[i], &large[0], &large[1], &large[2], &large[3], &counts[0]);
    add_bytes(large, sizeof large);
    add((uint64_t)counts[0]);
    MPI_Type_get_extent(has.types[i], &lb, &extent);
    add((uint64_t)(lb * 1000 + extent));
    MPI_Type_get_name(has.types[i], name, &counts[1]);
    add_bytes(name, (size_t)counts[1]);
    MPI_Pack(from + 256, 2, has.types[i], packed, sizeof packed, &position, MPI_COMM_WORLD);
    add_bytes(packed, (size_t)position);
  }
  int* value = NULL;
  int is_set = 0;
  MPI_Type_get_attr(has.types[1], has.type_keyval, &value, &is_set);
  add(is_set ? (uint64_t)*value : 0);
  MPI_Type_get_attr(MPI_INT, has.type_keyval, &value, &is_set);
  add(is_set ? (uint64_t)*value : 0);
  MPI_Datatype again;
  MPI_Type_create_f90_real(10, 100, &again);
  char name[MPI_MAX_OBJECT_NAME];
  int name_length = 0;
  MPI_Type_get_name(MPI_SHORT, name, &name_length);
  add_bytes(name, (size_t)name_length);
  add(again == has.types[12] && MPI_Type_fromint(has.type_number) == has.types[4]);
}

static void add_comms(void) {
  for (int i = 0; i < comm_count; ++i) {
    int own = 0;
    int sum = rank + 1;
    int result;
    char name[MPI_MAX_OBJECT_NAME];
    int name_length = 0;
    MPI_Comm_rank(has.comms[i], &own);
    add((uint64_t)own);
    MPI_Comm_get_name(has.comms[i], name, &name_length);
    add_bytes(name, (size_t)name_length);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, has.comms[i]);
    add((uint64_t)sum);
    MPI_Comm_compare(has.comms[i], MPI_COMM_WORLD, &result);
    add((uint64_t)result);
    MPI_Request request;
    int largest = rank;
    MPI_Iallreduce(MPI_IN_PLACE, &largest, 1, MPI_INT, MPI_MAX, has.comms[i], &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    add((uint64_t)largest);
  }
  int* value = NULL;
  int is_set = 0;
  MPI_Comm_get_attr(has.comms[0], has.keyval, &value, &is_set);
  add(is_set ? (uint64_t)*value : 0);
  const int before = error_count;
  MPI_Send(&is_set, 1, MPI_INT, 10000, 0, has.comms[0]);
  add((uint64_t)(error_count - before));
  int coords[2];
  int around[2];
  MPI_Cart_coords(has.comms[7], rank, 2, coords);
  MPI_Cart_shift(has.comms[2], 0, 1, &around[0], &around[1]);
  add_bytes(coords, sizeof coords);
  add_bytes(around, sizeof around);
  for (int i = 2; i < 6; ++i) {
    int from[8];
    if (i == 3) continue;
    memset(from, 0, sizeof from);
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, from, 1, MPI_INT, has.comms[i]);
    add_bytes(from, sizeof from);
  }
  int degrees[3];
  MPI_Dist_graph_neighbors_count(has.comms[5], &degrees[0], &degrees[1], &degrees[2]);
  add_bytes(degrees, sizeof degrees);
  int remote = 0;
  int sum = rank;
  int total = 0;
  MPI_Comm_remote_size(has.between, &remote);
  MPI_Allreduce(&sum, &total, 1, MPI_INT, MPI_SUM, has.between);
  add((uint64_t)(remote * 1000 + total));
  MPI_Group own_group;
  MPI_Comm_group(has.comms[1], &own_group);
  MPI_Group_compare(own_group, has.group, &total);
  MPI_Group_free(&own_group);
  add(total == MPI_IDENT);
  add(MPI_Comm_fromint(has.comm_number) == has.comms[3]);
}

/// What was used and given back leaves nothing that keeps a job from being saved.
static void add_what_is_over(void) {
  const int right = (rank + 1) % size;
  const int left = (rank + size - 1) % size;
  int value = 1000 + rank;
  int got = 0;
  int bytes = 0;
  void* buffer = malloc(1000 + MPI_BSEND_OVERHEAD);
  MPI_Buffer_attach(buffer, 1000 + MPI_BSEND_OVERHEAD);
  MPI_Comm_attach_buffer(has.comms[0], malloc(1000 + MPI_BSEND_OVERHEAD),
                         1000 + MPI_BSEND_OVERHEAD);
  MPI_Bsend(&value, 1, MPI_INT, right, 8, MPI_COMM_WORLD);
  MPI_Recv(&got, 1, MPI_INT, left, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  add((uint64_t)got);
  MPI_Buffer_detach(&buffer, &bytes);
  free(buffer);
  MPI_Comm_detach_buffer(has.comms[0], &buffer, &bytes);
  free(buffer);
  const MPI_Comm comms[2] = {MPI_COMM_WORLD, has.comms[0]};
  for (int i = 0; i < 2; ++i) {
    MPI_Request parts[2];
    value = 2000 * i + rank;
    MPI_Psend_init(&value, 1, 1, MPI_INT, right, 9, comms[i], MPI_INFO_NULL, &parts[0]);
    MPI_Precv_init(&got, 1, 1, MPI_INT, left, 9, comms[i], MPI_INFO_NULL, &parts[1]);
    MPI_Startall(2, parts);
    MPI_Pready(0, parts[0]);
    MPI_Waitall(2, parts, MPI_STATUSES_IGNORE);
    MPI_Request_free(&parts[0]);
    MPI_Request_free(&parts[1]);
    add((uint64_t)got);
  }
}

static void add_others(void) {
  int in = rank + 1;
  int out = 0;
  int is_set = 0;
  int text_length = 0;
  char text[MPI_MAX_ERROR_STRING];
  int* tag_ub = NULL;
  MPI_Allreduce(&in, &out, 1, MPI_INT, has.op, has.comms[0]);
  add((uint64_t)out);
  MPI_Allreduce(&in, &out, 1, MPI_INT, has.large_op, MPI_COMM_WORLD);
  add((uint64_t)out);
  MPI_Info_get(has.info, "a key", sizeof text - 1, text, &is_set);
  add_bytes(text, strlen(text));
  MPI_Error_string(has.error_class, text, &text_length);
  add_bytes(text, (size_t)text_length);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag_ub, &is_set);
  add(tag_ub == has.tag_ub && *has.tag_ub > 32000);
  for (int i = 0; i < 3; ++i) {
    to_send[i] = 77 + 100 * i + rank;
    received[i] = 0;
  }
  MPI_Startall(6, has.requests);
  MPI_Waitall(6, has.requests, MPI_STATUSES_IGNORE);
  add_bytes(received, sizeof received);
  add_bytes(has.memory, memory_length * sizeof(int));
  if (!has_file) return;
  MPI_Offset position = 0;
  MPI_File_get_position(has.file, &position);
  add((uint64_t)position);
  MPI_File_get_position_shared(has.file, &position);
  add((uint64_t)position);
  int values[4] = {0};
  MPI_File_read_all(has.file, values, 4, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_seek(has.file, 3, MPI_SEEK_SET);
  add_bytes(values, sizeof values);
}

static void sum_up(void) {
  number_count = 0;
  add_types();
  add_comms();
  add_others();
  add_what_is_over();
}

static int free_all(void) {
  for (int i = 0; i < type_count; ++i)
    if (i != 12) MPI_Type_free(&has.types[i]);
  if (has_file) MPI_File_close(&has.file);
  for (int i = 0; i < 6; ++i)
    MPI_Request_free(&has.requests[i]);
  MPI_Free_mem(has.memory);
  MPI_Comm_free(&has.between);
  for (int i = 0; i < comm_count; ++i)
    MPI_Comm_free(&has.comms[i]);
  MPI_Group_free(&has.group);
  MPI_Op_free(&has.op);
  MPI_Op_free(&has.large_op);
  MPI_Info_free(&has.info);
  MPI_Errhandler_free(&has.errhandler);
  MPI_Comm_delete_attr(MPI_COMM_WORLD, has.keyval);
  MPI_Comm_free_keyval(&has.keyval);
  MPI_Type_delete_attr(MPI_INT, has.type_keyval);
  MPI_Type_free_keyval(&has.type_keyval);
  return deleted_count == 2;
}

static int compare(const uint64_t* expected, int expected_count) {
  int is_same = number_count == expected_count;
  for (int i = 0; i < number_count; ++i) {
    if (numbers[i] == expected[i]) continue;
    is_same = 0;
    printf("rank %d: number %d of %d differs\n", rank, i, number_count);
  }
  return is_same;
}

/// Steps after which ranks may have changed their process.
static void step_often(int steps, const uint64_t* expected, int expected_count) {
  int move_count = 0;
  int all_moves = 0;
  pid_t process = getpid();
  for (int i = 0; i < steps; ++i) {
    // Received after the collective, perhaps in another process.
    int late = 0;
    MPI_Send(&i, 1, MPI_INT, (rank + 1) % size, 9, has.comms[0]);
    MPI_Barrier(i % 2 == 0 ? MPI_COMM_WORLD : has.comms[7]);
    MPI_Recv(&late, 1, MPI_INT, (rank + size - 1) % size, 9, has.comms[0], MPI_STATUS_IGNORE);
    int is_same = late == i;
    if (process != getpid()) ++move_count;
    process = getpid();
    if (i % 5 == 0) {
      sum_up();
      is_same = is_same && compare(expected, expected_count);
    }
    if (!is_same) MPI_Abort(MPI_COMM_WORLD, 4);
  }
  MPI_Allreduce(&move_count, &all_moves, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d moves\n", all_moves);
}

int main(int argc, char** argv) {
  has_file = strcmp(argv[1], "-") != 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  make_types();
  make_comms();
  make_others(argv[1]);
  sum_up();
  uint64_t expected[number_max];
  const int expected_count = number_count;
  memcpy(expected, numbers, sizeof expected);
  int outcome = 0;
  if (!has_file) step_often(atoi(argv[2]), expected, expected_count);
  for (int i = 0; i < 2 && outcome == 0 && has_file; ++i)
    outcome = sorrel_checkpoint();
  if (outcome < 0) return 2;
  if (outcome == 0 && atoi(argv[2]) != 0 && has_file) {
    if (rank == 1) kill(getpid(), SIGKILL);
    pause();
  }
  sum_up();
  int is_same = compare(expected, expected_count);
  // New ones beside the old ones.
  make_types();
  MPI_Comm again;
  MPI_Comm_dup(has.comms[2], &again);
  MPI_Barrier(again);
  MPI_Comm_free(&again);
  // Another checkpoint of what was restored.
  if (outcome == 1 && sorrel_checkpoint() != 0) is_same = 0;
  if (!free_all()) {
    printf("rank %d: %d attributes were deleted\n", rank, deleted_count);
    is_same = 0;
  }
  if (outcome == 1 && rank == 0 && is_same) printf("restored %d numbers\n", number_count);
  MPI_Finalize();
  return is_same ? 0 : 1;
}
