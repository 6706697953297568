// The construction of a datatype, and the pair type of a value and its index. MPI 5.0, 5.1.13,
// 6.9.4.
#include <algorithm>

#include "abi/body.hpp"
#include "abi/check.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/datatype/recipe.hpp"

namespace sorrel::abi {

namespace {

using mpi::Datatype;
using mpi::Recipe;

int combiner_of(const Datatype& type) {
  return type.recipe() == nullptr ? MPI_COMBINER_NAMED : type.recipe()->combiner();
}

/// The caller's array for one of a recipe's lists, and its length.
template <class Element>
struct Room {
  MPI_Count count;
  Element* elements;
};

/// `what`: the end of the arguments' names max_... and array_of_...
template <class List, class Element>
int give(RankState& self, const char* what, const List& list, const Room<Element>& room) {
  if (room.count < static_cast<MPI_Count>(list.size()))
    return self.fail(MPI_ERR_ARG, "max_%s is %lld; it must be at least %zu", what,
                     static_cast<long long>(room.count), list.size());
  if (!list.empty() && room.elements == nullptr)
    return self.fail(MPI_ERR_ARG, "array_of_%s is a null pointer", what);
  std::copy(list.begin(), list.end(), room.elements);
  return MPI_SUCCESS;
}

int give_numbers(RankState& self,
                 const Recipe& recipe,
                 const Room<int>& integers,
                 const Room<MPI_Aint>& addresses) {
  const int error = give(self, "integers", recipe.integers(), integers);
  return error != MPI_SUCCESS ? error : give(self, "addresses", recipe.addresses(), addresses);
}

/// The caller gets a reference to each old datatype, too.
int give_types(RankState& self, const Recipe& recipe, const Room<MPI_Datatype>& room) {
  std::vector<MPI_Datatype> handles;
  for (const Datatype* type : recipe.types())
    handles.push_back(type->handle());
  const int error = give(self, "datatypes", handles, room);
  if (error != MPI_SUCCESS) return error;
  for (Datatype* type : recipe.types()) {
    type->retain();
    self.services().type_attributes.add_handle(*type);
  }
  return MPI_SUCCESS;
}

/// Sets *recipe to what the datatype was made from.
int find_recipe(RankState& self, const Datatype& type, const Recipe** recipe) {
  *recipe = type.recipe();
  if (*recipe == nullptr)
    return self.fail(MPI_ERR_TYPE, "datatype is %s, which is predefined and has no contents",
                     type.name());
  return MPI_SUCCESS;
}

/// The functions without _c have no arguments for large counts.
int check_small(RankState& self, const Recipe* recipe) {
  if (recipe == nullptr || recipe->large_counts().empty()) return MPI_SUCCESS;
  return self.fail(MPI_ERR_TYPE,
                   "datatype was created with MPI_Count counts; use the function whose name ends "
                   "in _c");
}

/// `Count` is int or MPI_Count.
template <class Count>
void give_sizes(const Recipe* recipe, Count* integers, Count* addresses, Count* types) {
  *integers = recipe == nullptr ? 0 : static_cast<Count>(recipe->integers().size());
  *addresses = recipe == nullptr ? 0 : static_cast<Count>(recipe->addresses().size());
  *types = recipe == nullptr ? 0 : static_cast<Count>(recipe->types().size());
}

struct Pair {
  MPI_Datatype value;
  MPI_Datatype index;
  MPI_Datatype pair;
};

MPI_Datatype pair_of(MPI_Datatype value, MPI_Datatype index) {
  const Pair pairs[] = {{MPI_FLOAT, MPI_INT, MPI_FLOAT_INT},
                        {MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT},
                        {MPI_LONG, MPI_INT, MPI_LONG_INT},
                        {MPI_INT, MPI_INT, MPI_2INT},
                        {MPI_SHORT, MPI_INT, MPI_SHORT_INT},
                        {MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT},
                        {MPI_REAL, MPI_REAL, MPI_2REAL},
                        {MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_2DOUBLE_PRECISION},
                        {MPI_INTEGER, MPI_INTEGER, MPI_2INTEGER}};
  for (const Pair& pair : pairs)
    if (pair.value == value && pair.index == index) return pair.pair;
  return MPI_DATATYPE_NULL;
}

}  // namespace

namespace body {

int Type_get_envelope(RankState& self,
                      Datatype& datatype,
                      int* num_integers,
                      int* num_addresses,
                      int* num_datatypes,
                      int* combiner) {
  if (const int error = check_small(self, datatype.recipe()); error != MPI_SUCCESS) return error;
  give_sizes(datatype.recipe(), num_integers, num_addresses, num_datatypes);
  *combiner = combiner_of(datatype);
  return MPI_SUCCESS;
}

int Type_get_envelope_c(RankState& /*self*/,
                        Datatype& datatype,
                        MPI_Count* num_integers,
                        MPI_Count* num_addresses,
                        MPI_Count* num_large_counts,
                        MPI_Count* num_datatypes,
                        int* combiner) {
  const Recipe* recipe = datatype.recipe();
  give_sizes(recipe, num_integers, num_addresses, num_datatypes);
  *num_large_counts = recipe == nullptr ? 0 : static_cast<MPI_Count>(recipe->large_counts().size());
  *combiner = combiner_of(datatype);
  return MPI_SUCCESS;
}

int Type_get_contents(RankState& self,
                      Datatype& datatype,
                      int max_integers,
                      int max_addresses,
                      int max_datatypes,
                      int array_of_integers[],
                      MPI_Aint array_of_addresses[],
                      MPI_Datatype array_of_datatypes[]) {
  const Recipe* recipe = nullptr;
  int error = find_recipe(self, datatype, &recipe);
  if (error == MPI_SUCCESS) error = check_small(self, recipe);
  if (error != MPI_SUCCESS) return error;
  error = give_numbers(self, *recipe, {max_integers, array_of_integers},
                       {max_addresses, array_of_addresses});
  if (error != MPI_SUCCESS) return error;
  return give_types(self, *recipe, {max_datatypes, array_of_datatypes});
}

int Type_get_contents_c(RankState& self,
                        Datatype& datatype,
                        MPI_Count max_integers,
                        MPI_Count max_addresses,
                        MPI_Count max_large_counts,
                        MPI_Count max_datatypes,
                        int array_of_integers[],
                        MPI_Aint array_of_addresses[],
                        MPI_Count array_of_large_counts[],
                        MPI_Datatype array_of_datatypes[]) {
  const Recipe* recipe = nullptr;
  int error = find_recipe(self, datatype, &recipe);
  if (error != MPI_SUCCESS) return error;
  error = give_numbers(self, *recipe, {max_integers, array_of_integers},
                       {max_addresses, array_of_addresses});
  if (error != MPI_SUCCESS) return error;
  error = give(self, "large_counts", recipe->large_counts(),
               Room<MPI_Count>{max_large_counts, array_of_large_counts});
  if (error != MPI_SUCCESS) return error;
  return give_types(self, *recipe, {max_datatypes, array_of_datatypes});
}

int Type_get_value_index(RankState& self,
                         MPI_Datatype value_type,
                         MPI_Datatype index_type,
                         MPI_Datatype* pair_type) {
  for (const MPI_Datatype handle : {value_type, index_type})
    if (mpi::datatype_from_handle(handle) == nullptr) return fail_datatype(self, handle);
  *pair_type = pair_of(value_type, index_type);
  return MPI_SUCCESS;
}

}  // namespace body

}  // namespace sorrel::abi
