/* Structures of datatypes with MPI_LB and MPI_UB, which MPI has removed: the structure without
 * them, resized to the bounds that they mark. Compiled for each family. */
#include SORREL_FAMILY

struct Bounds {
  int has_lower;
  int has_upper;
  MPI_Count lower;
  MPI_Count upper;
};

static void mark_lower(struct Bounds* bounds, MPI_Count at) {
  if (!bounds->has_lower || at < bounds->lower) bounds->lower = at;
  bounds->has_lower = 1;
}

static void mark_upper(struct Bounds* bounds, MPI_Count at) {
  if (!bounds->has_upper || at > bounds->upper) bounds->upper = at;
  bounds->has_upper = 1;
}

/* Whether bounds are marked in a datatype, as by MPI_Type_create_resized. */
static int has_bounds(MPI_Datatype type) {
  MPI_Count integers = 0;
  MPI_Count addresses = 0;
  MPI_Count large_counts = 0;
  MPI_Count types = 0;
  int combiner = MPI_COMBINER_NAMED;
  if (R.Type_get_envelope_c(type, &integers, &addresses, &large_counts, &types, &combiner) !=
          MPI_SUCCESS ||
      types == 0)
    return 0;
  if (combiner == MPI_COMBINER_RESIZED || combiner == MPI_COMBINER_SUBARRAY ||
      combiner == MPI_COMBINER_DARRAY)
    return 1;
  char* const memory = f_allocate((size_t)integers * sizeof(int) +
                                  (size_t)(addresses + large_counts) * sizeof(MPI_Count) +
                                  (size_t)types * sizeof(MPI_Datatype));
  MPI_Datatype* const list = (MPI_Datatype*)memory;
  MPI_Count* const numbers = (MPI_Count*)(list + types);
  int found = 0;
  if (R.Type_get_contents_c(type, integers, addresses, large_counts, types,
                            (int*)(numbers + addresses + large_counts), (MPI_Aint*)numbers,
                            numbers + addresses, list) == MPI_SUCCESS) {
    for (MPI_Count i = 0; i < types; ++i) {
      found |= has_bounds(list[i]);
      /* Predefined ones are constants. */
      if ((uintptr_t)list[i] >= first_object) (void)R.Type_free(&list[i]);
    }
  }
  free(memory);
  return found;
}

/* Gives the structure the bounds. */
static int resize(MPI_Datatype* type, struct Bounds* bounds, int are_others_marked) {
  MPI_Count lower = 0;
  MPI_Count extent = 0;
  int error = R.Type_get_extent_c(*type, &lower, &extent);
  if (error != MPI_SUCCESS) return error;
  if (are_others_marked || !bounds->has_lower) mark_lower(bounds, lower);
  if (are_others_marked || !bounds->has_upper) mark_upper(bounds, lower + extent);
  MPI_Datatype whole = *type;
  error = S.Type_create_resized_c(whole, bounds->lower, bounds->upper - bounds->lower, type);
  const int error_of_free = S.Type_free(&whole);
  return error != MPI_SUCCESS ? error : error_of_free;
}

/* `Count`: of lengths, `Place`: of displacements. */
#define STRUCTURE(Name, Count, Place)                                                             \
  SORREL_FUNCTION(int, Name,                                                                      \
                  (Count count, const Count lengths[], const Place displacements[],               \
                   const F_MPI_Datatype types[], F_MPI_Datatype* newtype)) {                      \
    SORREL_NOTE_CALLER();                                                                         \
    const MPI_Count all = types == NULL || count < 0 ? 0 : count;                                 \
    SORREL_LIST(MPI_Datatype, own, all);                                                          \
    SORREL_LIST(Count, own_lengths, all);                                                         \
    SORREL_LIST(Place, own_displacements, all);                                                   \
    struct Bounds bounds = {0, 0, 0, 0};                                                          \
    Count kept = 0;                                                                               \
    int are_others_marked = 0;                                                                    \
    const int has_lists = lengths != NULL && displacements != NULL;                               \
    own[0] = MPI_DATATYPE_NULL;                                                                   \
    for (MPI_Count i = 0; i < all; ++i) {                                                         \
      if (has_lists && (types[i] == f_lower_bound || types[i] == f_upper_bound)) {                \
        if (lengths[i] == 0) continue;                                                            \
        (types[i] == f_lower_bound ? mark_lower : mark_upper)(&bounds, displacements[i]);         \
        continue;                                                                                 \
      }                                                                                           \
      own[kept] = to_datatype(types[i]);                                                          \
      if (has_lists) own_lengths[kept] = lengths[i], own_displacements[kept] = displacements[i];  \
      ++kept;                                                                                     \
    }                                                                                             \
    const int is_marked = bounds.has_lower || bounds.has_upper;                                   \
    MPI_Datatype made = MPI_DATATYPE_NULL;                                                        \
    int error = S.Name(kept < all ? kept : count, has_lists ? own_lengths : lengths,              \
                       has_lists ? own_displacements : displacements, types == NULL ? NULL : own, \
                       newtype == NULL ? NULL : &made);                                           \
    for (Count i = 0; is_marked && error == MPI_SUCCESS && i < kept; ++i)                         \
      are_others_marked |= own_lengths[i] != 0 && has_bounds(own[i]);                             \
    if (is_marked && error == MPI_SUCCESS) error = resize(&made, &bounds, are_others_marked);     \
    SORREL_END_LIST(own);                                                                         \
    SORREL_END_LIST(own_lengths);                                                                 \
    SORREL_END_LIST(own_displacements);                                                           \
    if (error == MPI_SUCCESS) set_datatype(newtype, made);                                        \
    return f_result(error);                                                                       \
  }

STRUCTURE(Type_create_struct, int, MPI_Aint)
#ifdef SORREL_LARGE_COUNTS
STRUCTURE(Type_create_struct_c, MPI_Count, MPI_Count)
#endif

/* A function that MPI has removed. */
SORREL_FUNCTION(int,
                Type_struct,
                (int count,
                 int lengths[],
                 MPI_Aint displacements[],
                 F_MPI_Datatype types[],
                 F_MPI_Datatype* newtype)) {
  SORREL_NOTE_CALLER();
  return f_Type_create_struct(count, lengths, displacements, types, newtype);
}
