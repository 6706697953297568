#include "mpi/saved/saved_type.hpp"

#include <memory>
#include <string>

#include "mpi/base/error_detail.hpp"
#include "mpi/datatype/construct.hpp"
#include "mpi/datatype/darray.hpp"
#include "mpi/datatype/kind_types.hpp"
#include "mpi/datatype/recipe.hpp"
#include "mpi/saved/lists.hpp"

namespace sorrel::mpi {

namespace {

/// Takes the numbers of a recipe in the order in which its constructor has stored them.
class Arguments {
 public:
  explicit Arguments(const Recipe& recipe) : recipe_(recipe) {}

  int integer() { return *integers(1); }

  const int* integers(std::int64_t count) {
    const int* first = recipe_.integers().data() + integer_count_;
    integer_count_ += static_cast<std::size_t>(count);
    return first;
  }

  std::int64_t count() { return counts(1)[0]; }

  Integers counts(std::int64_t count) {
    return recipe_.is_large() ? large(count) : Integers(integers(count));
  }

  std::int64_t address() { return addresses(1)[0]; }

  Integers addresses(std::int64_t count) {
    if (recipe_.is_large()) return large(count);
    const MPI_Aint* first = recipe_.addresses().data() + address_count_;
    address_count_ += static_cast<std::size_t>(count);
    return first;
  }

 private:
  Integers large(std::int64_t count) {
    const MPI_Count* first = recipe_.large_counts().data() + large_count_;
    large_count_ += static_cast<std::size_t>(count);
    return first;
  }

  const Recipe& recipe_;
  std::size_t integer_count_ = 0;
  std::size_t address_count_ = 0;
  std::size_t large_count_ = 0;
};

ArrayOrder order_of(int order) {
  return order == MPI_ORDER_C ? ArrayOrder::c : ArrayOrder::fortran;
}

int make_vector_of(int combiner, Arguments& from, const Datatype& old_type, Datatype*& made) {
  VectorShape shape{.count = from.count(), .block_length = from.count(), .stride = 0};
  if (combiner == MPI_COMBINER_VECTOR) {
    shape.stride = from.count();
    return make_vector(shape, old_type, made);
  }
  shape.stride = from.address();
  return make_hvector(shape, old_type, made);
}

int make_indexed_of(int combiner, Arguments& from, const Datatype& old_type, Datatype*& made) {
  const std::int64_t count = from.count();
  switch (combiner) {
    case MPI_COMBINER_INDEXED: {
      const Integers lengths = from.counts(count);
      return make_indexed(count, lengths, from.counts(count), old_type, made);
    }
    case MPI_COMBINER_HINDEXED: {
      const Integers lengths = from.counts(count);
      return make_hindexed(count, lengths, from.addresses(count), old_type, made);
    }
    case MPI_COMBINER_INDEXED_BLOCK: {
      const std::int64_t length = from.count();
      return make_indexed_block(count, length, from.counts(count), old_type, made);
    }
    default: {
      const std::int64_t length = from.count();
      return make_hindexed_block(count, length, from.addresses(count), old_type, made);
    }
  }
}

int make_struct_of(Arguments& from, const Recipe& recipe, Datatype*& made) {
  const std::int64_t count = from.count();
  const Integers lengths = from.counts(count);
  const Integers displacements = from.addresses(count);
  std::vector<MPI_Datatype> types;
  for (const Datatype* type : recipe.types())
    types.push_back(handle_of(*type));
  if (static_cast<std::size_t>(count) != types.size()) return MPI_ERR_TYPE;
  return make_struct(count, lengths, displacements, types.data(), made);
}

int make_subarray_of(Arguments& from, const Datatype& old_type, Datatype*& made) {
  const int dimensions = from.integer();
  SubarrayShape shape{.dimensions = dimensions,
                      .sizes = from.counts(dimensions),
                      .subsizes = from.counts(dimensions),
                      .starts = from.counts(dimensions),
                      .order = ArrayOrder::c};
  shape.order = order_of(from.integer());
  return make_subarray(shape, old_type, made);
}

int make_darray_of(Arguments& from, const Datatype& old_type, Datatype*& made) {
  DarrayShape shape{};
  shape.process_count = from.integer();
  shape.rank = from.integer();
  shape.dimensions = from.integer();
  shape.sizes = from.counts(shape.dimensions);
  shape.distributions = from.integers(shape.dimensions);
  shape.arguments = from.integers(shape.dimensions);
  shape.grid = from.integers(shape.dimensions);
  shape.order = order_of(from.integer());
  ErrorDetail detail;
  return make_darray(shape, old_type, made, detail);
}

int make_kind_of(int combiner, Arguments& from, Datatype*& made) {
  KindTypes::Key key{.combiner = combiner, .first = from.integer(), .second = 0};
  if (combiner != MPI_COMBINER_F90_INTEGER) key.second = from.integer();
  return make_dup(*datatype_from_handle(KindTypes::base_of(key)), made);
}

int make_of(const Recipe& recipe, Datatype*& made) {
  Arguments from(recipe);
  const int combiner = recipe.combiner();
  if (combiner == MPI_COMBINER_STRUCT) return make_struct_of(from, recipe, made);
  if (combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX ||
      combiner == MPI_COMBINER_F90_INTEGER)
    return make_kind_of(combiner, from, made);
  if (recipe.types().size() != 1) return MPI_ERR_TYPE;
  const Datatype& old_type = *recipe.types().front();
  switch (combiner) {
    case MPI_COMBINER_DUP:
      return make_dup(old_type, made);
    case MPI_COMBINER_CONTIGUOUS:
      return make_contiguous(from.count(), old_type, made);
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
      return make_vector_of(combiner, from, old_type, made);
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
      return make_indexed_of(combiner, from, old_type, made);
    case MPI_COMBINER_SUBARRAY:
      return make_subarray_of(from, old_type, made);
    case MPI_COMBINER_DARRAY:
      return make_darray_of(from, old_type, made);
    case MPI_COMBINER_RESIZED: {
      const std::int64_t lb = from.address();
      return make_resized(lb, from.address(), old_type, made);
    }
    default:
      return MPI_ERR_TYPE;
  }
}

}  // namespace

void save_type(const Datatype& type, ByteWriter& to) {
  const Recipe& recipe = *type.recipe();
  to.add(type.is_committed());
  to.add_block(type.name());
  to.add(recipe.combiner());
  to.add(recipe.is_large());
  add_list<int>(to, recipe.integers());
  add_list<MPI_Aint>(to, recipe.addresses());
  add_list<MPI_Count>(to, recipe.large_counts());
  std::vector<MPI_Datatype> types;
  for (const Datatype* old_type : recipe.types())
    types.push_back(handle_of(*old_type));
  add_list<MPI_Datatype>(to, types);
}

Datatype* restore_type(ByteCursor& from) {
  const bool is_committed = from.take<bool>();
  const std::string name(from.take_block());
  const int combiner = from.take<int>();
  const bool is_large = from.take<bool>();
  auto integers = take_list<int>(from);
  auto addresses = take_list<MPI_Aint>(from);
  auto large_counts = take_list<MPI_Count>(from);
  auto recipe = std::make_unique<Recipe>(combiner, is_large, std::move(integers),
                                         std::move(addresses), std::move(large_counts));
  for (const MPI_Datatype handle : take_list<MPI_Datatype>(from)) {
    Datatype* old_type = datatype_from_handle(handle);
    if (old_type == nullptr) return nullptr;
    recipe->type(*old_type);
  }
  Datatype* made = nullptr;
  if (!from.is_good() || make_of(*recipe, made) != MPI_SUCCESS) return nullptr;
  made->set_recipe(std::move(recipe));
  if (is_committed) made->commit();
  if (!name.empty()) made->set_name(name.c_str());
  return made;
}

}  // namespace sorrel::mpi
