/* Attributes: keys, whose callbacks are Fortran procedures, and values. MPI 5.0, 7.7, 19.3.7.
 *
 * C has an attribute as a pointer, Fortran as an integer. A value that Fortran has set is the
 * integer in a cell, whose address the library keeps: C gets that address, as the standard says. A
 * value that C has set is a pointer, which Fortran gets as an integer. A cell is found by its
 * address, so any binding can tell which of the two a value is. Equal integers share a cell; no
 * cell is ever freed, since C may have copied its address. */
#include "fortran/shim.h"

/* ---- Cells ---- */

enum { slab_cells = 256, buckets = 64 };

struct cell {
  MPI_Aint value; /* the first: C reads it through the cell's address, also as an INTEGER */
  struct cell* next;
};

struct slab {
  struct slab* next;
  int used;
  struct cell cells[slab_cells];
};

/* Under `cells_lock`: several threads of a rank may call. */
static struct slab* slabs;
static struct cell* bucket_heads[buckets];
static char cells_lock;

static void lock_cells(void) {
  while (__atomic_test_and_set(&cells_lock, __ATOMIC_ACQUIRE))
    continue;
}

static void unlock_cells(void) {
  __atomic_clear(&cells_lock, __ATOMIC_RELEASE);
}

static struct cell* new_cell(void) {
  if (slabs == NULL || slabs->used == slab_cells) {
    struct slab* made = sorrel_memory(1, sizeof *made);
    made->next = slabs;
    made->used = 0;
    slabs = made;
  }
  return &slabs->cells[slabs->used++];
}

/* The cell of an integer. */
static void* cell_of(MPI_Aint value) {
  struct cell** head = &bucket_heads[(size_t)value % buckets];
  lock_cells();
  struct cell* cell = *head;
  while (cell != NULL && cell->value != value)
    cell = cell->next;
  if (cell == NULL) {
    cell = new_cell();
    cell->value = value;
    cell->next = *head;
    *head = cell;
  }
  unlock_cells();
  return cell;
}

static int is_cell(const void* pointer) {
  int is_found = 0;
  lock_cells();
  for (const struct slab* slab = slabs; slab != NULL && !is_found; slab = slab->next) {
    const size_t offset = (size_t)pointer - (size_t)slab->cells;
    is_found =
        offset < (size_t)slab->used * sizeof(struct cell) && offset % sizeof(struct cell) == 0;
  }
  unlock_cells();
  return is_found;
}

/* What Fortran sees of a value that it or C has set. */
static MPI_Aint integer_of(const void* value) {
  return is_cell(value) ? ((const struct cell*)value)->value : (MPI_Aint)value;
}

/* ---- Keys and values ---- */

#define SORREL_F08_NAMES(name)                          \
  SORREL_WEAK_ALIAS(mpi_##name##_f08_, pmpi_##name##_); \
  SORREL_ALIAS(pmpi_##name##_f08_, pmpi_##name##_);

/* The procedures of a key; kept to the end of the program, because freed keys may have values.
 * `Value` is INTEGER(KIND=MPI_ADDRESS_KIND), INTEGER for the deprecated functions. */
#define SORREL_KEYVAL(name, create, Kind, Handle, Value)                                        \
  struct name##_key {                                                                           \
    void (*copy)(int*, int*, Value*, Value*, Value*, int*, int*);                               \
    void (*remove)(int*, int*, Value*, Value*, int*);                                           \
    Value extra_state;                                                                          \
  };                                                                                            \
  static int name##_copy(Handle object, int keyval, void* extra_state, void* value, void* copy, \
                         int* flag) {                                                           \
    struct name##_key* key = extra_state;                                                       \
    int number = sorrel_to_##Kind(object);                                                      \
    int error = MPI_SUCCESS;                                                                    \
    Value in = (Value)integer_of(value);                                                        \
    Value out = 0;                                                                              \
    *flag = 0;                                                                                  \
    key->copy(&number, &keyval, &key->extra_state, &in, &out, flag, &error);                    \
    *flag = *flag != 0;                                                                         \
    if (*flag) *(void**)copy = is_cell(value) ? cell_of(out) : (void*)(MPI_Aint)out;            \
    return error;                                                                               \
  }                                                                                             \
  static int name##_remove(Handle object, int keyval, void* value, void* extra_state) {         \
    struct name##_key* key = extra_state;                                                       \
    int number = sorrel_to_##Kind(object);                                                      \
    int error = MPI_SUCCESS;                                                                    \
    Value in = (Value)integer_of(value);                                                        \
    key->remove(&number, &keyval, &in, &key->extra_state, &error);                              \
    return error;                                                                               \
  }                                                                                             \
  void pmpi_##name##_(void (*copy)(int*, int*, Value*, Value*, Value*, int*, int*),             \
                      void (*remove)(int*, int*, Value*, Value*, int*), int* keyval,            \
                      const Value* extra_state, int* ierror) {                                  \
    struct name##_key* key = sorrel_memory(1, sizeof *key);                                     \
    key->copy = copy;                                                                           \
    key->remove = remove;                                                                       \
    key->extra_state = *extra_state;                                                            \
    const int error = create(name##_copy, name##_remove, keyval, key);                          \
    if (error != MPI_SUCCESS) free(key);                                                        \
    sorrel_return(ierror, error);                                                               \
  }                                                                                             \
  SORREL_WEAK_ALIAS(mpi_##name##_, pmpi_##name##_);

/* Predefined attributes are the addresses of numbers in C, but for MPI_WIN_BASE. */
static MPI_Aint value_of(int keyval, void* value) {
  if (value == NULL) return 0;
  switch (keyval) {
    case MPI_WIN_BASE:
      return (MPI_Aint)value;
    case MPI_WIN_SIZE:
      return *(MPI_Aint*)value;
    case MPI_TAG_UB:
    case MPI_IO:
    case MPI_HOST:
    case MPI_WTIME_IS_GLOBAL:
    case MPI_APPNUM:
    case MPI_LASTUSEDCODE:
    case MPI_UNIVERSE_SIZE:
    case MPI_WIN_DISP_UNIT:
    case MPI_WIN_CREATE_FLAVOR:
    case MPI_WIN_MODEL:
      return *(int*)value;
    default:
      return integer_of(value);
  }
}

#define SORREL_SET_ATTR(name, Kind, set, Value)                                                    \
  void pmpi_##name##_(const int* object, const int* keyval, const Value* value, int* ierror) {     \
    sorrel_return(ierror, set(sorrel_from_##Kind(*object), sorrel_key(*keyval), cell_of(*value))); \
  }                                                                                                \
  SORREL_WEAK_ALIAS(mpi_##name##_, pmpi_##name##_);

#define SORREL_GET_ATTR(name, Kind, get, Value)                                      \
  void pmpi_##name##_(const int* object, const int* keyval, Value* value, int* flag, \
                      int* ierror) {                                                 \
    void* found = NULL;                                                              \
    *flag = 0;                                                                       \
    const int key = sorrel_key(*keyval);                                             \
    const int error = get(sorrel_from_##Kind(*object), key, &found, flag);           \
    *flag = *flag != 0;                                                              \
    if (error == MPI_SUCCESS && *flag) *value = (Value)value_of(key, found);         \
    sorrel_return(ierror, error);                                                    \
  }                                                                                  \
  SORREL_WEAK_ALIAS(mpi_##name##_, pmpi_##name##_);

/* The procedures that MPI provides. They are called as those of the program. */
#define SORREL_COPY_FN(name, Value, copies)                                                 \
  void name(int* object, int* keyval, Value* extra_state, Value* in, Value* out, int* flag, \
            int* ierror) {                                                                  \
    (void)object, (void)keyval, (void)extra_state;                                          \
    if (copies) *out = *in;                                                                 \
    *flag = copies;                                                                         \
    *ierror = MPI_SUCCESS;                                                                  \
  }
#define SORREL_DELETE_FN(name, Value)                                                  \
  void name(int* object, int* keyval, Value* value, Value* extra_state, int* ierror) { \
    (void)object, (void)keyval, (void)value, (void)extra_state;                        \
    *ierror = MPI_SUCCESS;                                                             \
  }
#define SORREL_PROVIDED_FUNCTIONS(prefix, Value)        \
  SORREL_COPY_FN(mpi_##prefix##null_copy_fn_, Value, 0) \
  SORREL_COPY_FN(mpi_##prefix##dup_fn_, Value, 1)       \
  SORREL_DELETE_FN(mpi_##prefix##null_delete_fn_, Value)
SORREL_PROVIDED_FUNCTIONS(, int)
SORREL_PROVIDED_FUNCTIONS(comm_, MPI_Aint)
SORREL_PROVIDED_FUNCTIONS(type_, MPI_Aint)
SORREL_PROVIDED_FUNCTIONS(win_, MPI_Aint)

/* `prefix` in Fortran, `Kind` in C. */
#define SORREL_ATTRIBUTES(prefix, Kind, Handle)                                             \
  SORREL_KEYVAL(prefix##_create_keyval, MPI_##Kind##_create_keyval, Kind, Handle, MPI_Aint) \
  SORREL_F08_NAMES(prefix##_create_keyval)                                                  \
  SORREL_GET_ATTR(prefix##_get_attr, Kind, MPI_##Kind##_get_attr, MPI_Aint)                 \
  SORREL_F08_NAMES(prefix##_get_attr)                                                       \
  SORREL_SET_ATTR(prefix##_set_attr, Kind, MPI_##Kind##_set_attr, MPI_Aint)                 \
  SORREL_F08_NAMES(prefix##_set_attr)

SORREL_ATTRIBUTES(comm, Comm, MPI_Comm)
SORREL_ATTRIBUTES(type, Type, MPI_Datatype)
SORREL_ATTRIBUTES(win, Win, MPI_Win)

/* Functions of MPI-1. */
SORREL_KEYVAL(keyval_create, MPI_Keyval_create, Comm, MPI_Comm, int)
SORREL_GET_ATTR(attr_get, Comm, MPI_Attr_get, int)
SORREL_SET_ATTR(attr_put, Comm, MPI_Attr_put, int)
