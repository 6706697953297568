// Windows of every flavor: their attributes, groups, names, hints, and the memory they expose.
#include "../check.h"

static int deletions;

static int count_deletion(MPI_Win win, int keyval, void* value, void* extra) {
  (void)win;
  (void)keyval;
  CHECK((intptr_t)value == 7);
  CHECK(extra == &deletions);
  deletions++;
  return MPI_SUCCESS;
}

static void check_attributes(MPI_Win win, void* base, MPI_Aint size, int unit, int flavor) {
  void* value;
  int flag;
  MPI_Win_get_attr(win, MPI_WIN_BASE, &value, &flag);
  CHECK_EQUAL(flag, 1);
  CHECK(value == base);
  MPI_Win_get_attr(win, MPI_WIN_SIZE, &value, &flag);
  CHECK_EQUAL(*(MPI_Aint*)value, size);
  MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &value, &flag);
  CHECK_EQUAL(*(int*)value, unit);
  MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &value, &flag);
  CHECK_EQUAL(*(int*)value, flavor);
  MPI_Win_get_attr(win, MPI_WIN_MODEL, &value, &flag);
  CHECK_EQUAL(*(int*)value, MPI_WIN_UNIFIED);
}

static void created(void) {
  int memory[4];
  MPI_Win win;
  MPI_Group of_win, of_world;
  int result;
  MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  check_attributes(win, memory, sizeof memory, sizeof(int), MPI_WIN_FLAVOR_CREATE);
  MPI_Win_get_group(win, &of_win);
  MPI_Comm_group(MPI_COMM_WORLD, &of_world);
  MPI_Group_compare(of_win, of_world, &result);
  CHECK_EQUAL(result, MPI_IDENT);
  MPI_Group_free(&of_win);
  MPI_Group_free(&of_world);
  MPI_Win_free(&win);
  CHECK(win == MPI_WIN_NULL);
}

static void allocated(void) {
  int* memory = NULL;
  MPI_Win win;
  // Sizes differ, one is nothing.
  const MPI_Aint size = 8 * rank_in(MPI_COMM_WORLD);
  MPI_Win_allocate(size, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  check_attributes(win, memory, size, 8, MPI_WIN_FLAVOR_ALLOCATE);
  CHECK((uintptr_t)memory % 16 == 0);
  for (int i = 0; i < size / 4; i++)
    memory[i] = i;
  MPI_Win_free(&win);
}

static void dynamic(void) {
  MPI_Win win;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  check_attributes(win, MPI_BOTTOM, 0, 1, MPI_WIN_FLAVOR_DYNAMIC);
  MPI_Win_free(&win);
}

static void names_and_hints(void) {
  MPI_Win win;
  MPI_Info info, used;
  char text[MPI_MAX_OBJECT_NAME], value[MPI_MAX_INFO_VAL];
  int length, flag;
  MPI_Win_get_name(MPI_WIN_NULL, text, &length);
  CHECK(strcmp(text, "MPI_WIN_NULL") == 0);
  MPI_Info_create(&info);
  MPI_Info_set(info, "no_locks", "true");
  MPI_Info_set(info, "no_such_hint", "1");
  MPI_Win_create(NULL, 0, 1, info, MPI_COMM_WORLD, &win);
  MPI_Win_get_name(win, text, &length);
  CHECK_EQUAL(length, 0);
  MPI_Win_set_name(win, "the window");
  MPI_Win_get_name(win, text, &length);
  CHECK_EQUAL(length, 10);
  CHECK(strcmp(text, "the window") == 0);
  MPI_Win_get_info(win, &used);
  MPI_Info_get(used, "no_locks", (int)sizeof value - 1, value, &flag);
  CHECK(flag && strcmp(value, "true") == 0);
  MPI_Info_get(used, "accumulate_ordering", (int)sizeof value - 1, value, &flag);
  CHECK(flag && strcmp(value, "rar,raw,war,waw") == 0);
  MPI_Info_free(&used);
  MPI_Info_set(info, "same_size", "true");
  MPI_Win_set_info(win, info);
  MPI_Win_get_info(win, &used);
  MPI_Info_get(used, "same_size", (int)sizeof value - 1, value, &flag);
  CHECK(flag && strcmp(value, "true") == 0);
  // It is ignored, by MPI_Win_create as by MPI_Win_set_info.
  MPI_Info_get(used, "no_such_hint", (int)sizeof value - 1, value, &flag);
  CHECK(!flag);
  MPI_Info_free(&used);
  MPI_Info_free(&info);
  MPI_Win_free(&win);
}

static void attributes(void) {
  MPI_Win win;
  int keyval, comm_keyval, flag;
  void* value;
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, count_deletion, &keyval, &deletions);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &comm_keyval, NULL);
  MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_get_attr(win, keyval, &value, &flag);
  CHECK_EQUAL(flag, 0);
  MPI_Win_set_attr(win, keyval, (void*)(intptr_t)7);
  MPI_Win_get_attr(win, keyval, &value, &flag);
  CHECK_EQUAL(flag, 1);
  CHECK_EQUAL((intptr_t)value, 7);
  // A keyval is for one kind of object.
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  CHECK(MPI_Win_set_attr(win, comm_keyval, NULL) == MPI_ERR_KEYVAL);
  CHECK(MPI_Win_set_attr(win, MPI_WIN_SIZE, NULL) == MPI_ERR_KEYVAL);
  MPI_Win_delete_attr(win, keyval);
  CHECK_EQUAL(deletions, 1);
  MPI_Win_set_attr(win, keyval, (void*)(intptr_t)7);
  MPI_Win_free_keyval(&keyval);
  CHECK_EQUAL(keyval, MPI_KEYVAL_INVALID);
  MPI_Comm_free_keyval(&comm_keyval);
  MPI_Win_free(&win);
  CHECK_EQUAL(deletions, 2);
}

static void shared(void) {
  MPI_Comm node;
  MPI_Win win;
  int* memory = NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  const int rank = rank_in(node), size = size_of(node);
  const int error = (MPI_Comm_set_errhandler(node, MPI_ERRORS_RETURN),
                     MPI_Win_allocate_shared((MPI_Aint)(sizeof(int) * (size_t)(rank + 1)),
                                             sizeof(int), MPI_INFO_NULL, node, &memory, &win));
  CHECK_EQUAL(error, MPI_SUCCESS);
  check_attributes(win, memory, (MPI_Aint)(sizeof(int) * (size_t)(rank + 1)), sizeof(int),
                   MPI_WIN_FLAVOR_SHARED);
  for (int i = 0; i <= rank; i++)
    memory[i] = 100 * rank + i;
  MPI_Win_fence(0, win);
  int* first = NULL;
  for (int other = 0; other < size; other++) {
    MPI_Aint bytes;
    int unit;
    int* base;
    MPI_Win_shared_query(win, other, &bytes, &unit, &base);
    CHECK_EQUAL(bytes, sizeof(int) * (size_t)(other + 1));
    CHECK_EQUAL(unit, sizeof(int));
    if (other == 0) first = base;
    // The segments are next to each other.
    CHECK(base == first + other * (other + 1) / 2);
    for (int i = 0; i <= other; i++)
      CHECK_EQUAL(base[i], 100 * other + i);
  }
  MPI_Aint bytes;
  int unit;
  int* base;
  MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &base);
  CHECK(base == first);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
  // Ranks of several nodes have no memory in common.
  if (size < size_of(MPI_COMM_WORLD)) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK_EQUAL(MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win),
                MPI_ERR_RMA_SHARED);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  }
  MPI_Comm_free(&node);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  created();
  allocated();
  dynamic();
  names_and_hints();
  attributes();
  shared();
  MPI_Finalize();
  return 0;
}
