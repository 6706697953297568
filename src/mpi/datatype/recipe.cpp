#include "mpi/datatype/recipe.hpp"

#include "mpi/datatype/datatype.hpp"

namespace sorrel::mpi {

Recipe::~Recipe() {
  for (Datatype* type : types_)
    type->release();
}

Recipe& Recipe::integer(int value) {
  integers_.push_back(value);
  return *this;
}

Recipe& Recipe::count(std::int64_t value) {
  if (is_large_) {
    large_counts_.push_back(value);
  } else {
    integers_.push_back(static_cast<int>(value));
  }
  return *this;
}

Recipe& Recipe::counts(Integers values, std::int64_t length) {
  for (std::int64_t i = 0; i < length; ++i)
    count(values[static_cast<std::size_t>(i)]);
  return *this;
}

Recipe& Recipe::address(std::int64_t value) {
  (is_large_ ? large_counts_ : addresses_).push_back(value);
  return *this;
}

Recipe& Recipe::addresses(Integers values, std::int64_t length) {
  for (std::int64_t i = 0; i < length; ++i)
    address(values[static_cast<std::size_t>(i)]);
  return *this;
}

Recipe& Recipe::type(Datatype& old_type) {
  old_type.retain();
  types_.push_back(&old_type);
  return *this;
}

}  // namespace sorrel::mpi
