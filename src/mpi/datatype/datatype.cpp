#include "mpi/datatype/datatype.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "mpi/datatype/recipe.hpp"

namespace sorrel::mpi {

Datatype* Datatype::create(DatatypeParts parts) {
  auto* type = new Datatype;
  const Bounds& bounds = parts.bounds;
  type->single_ = parts.single;
  type->element_ = parts.element;
  type->element_class_ = parts.element_class;
  type->alignment_ = parts.alignment;
  type->size_ = parts.size;
  type->extent_ = bounds.ub - bounds.lb;
  type->lb_ = bounds.lb;
  type->layout_ = parts.shape.layout.get();
  type->offset_ = parts.shape.offset;
  type->true_lb_ = bounds.true_lb;
  type->true_ub_ = bounds.true_ub;
  type->sticky_ = bounds.sticky;
  type->element_size_ = parts.element_size;
  type->element_count_ = parts.element_count;
  type->signature_ = parts.signature.get();
  type->references_ = 1;
  SORREL_ASSERT((type->layout_ == nullptr) == (parts.size == 0));
  SORREL_ASSERT(type->layout_ == nullptr ||
                (type->layout_->bytes == parts.size && type->layout_->depth <= layout_depth_max));
  LayoutRef::retain(type->layout_);
  SignatureRef::retain(type->signature_);
  const bool one_block =
      parts.size == 0 || (type->layout_->kind == Layout::Kind::block && type->offset_ == 0);
  type->dense_ =
      one_block && type->lb_ == 0 && type->extent_ == static_cast<std::int64_t>(type->size_);
  type->magic_ = magic;
  return type;
}

void Datatype::destroy() {
  // A list instead of recursion: the nesting of recipes is not bounded by a rank's stack.
  std::vector<Datatype*> ended{this};
  while (!ended.empty()) {
    Datatype* type = ended.back();
    ended.pop_back();
    if (type->recipe_ != nullptr) {
      for (Datatype* old : type->recipe_->take_types())
        if (!old->predefined_ && --old->references_ == 0) ended.push_back(old);
    }
    SORREL_ASSERT(type->is_valid() && type->references_ == 0);
    type->end();
  }
}

void Datatype::end() {
  // A volatile write, because the compiler may drop a store to memory that is about to be freed,
  // and a stale handle should be detected until the memory is reused.
  *const_cast<volatile std::uint32_t*>(&magic_) = 0;
  LayoutRef::release(layout_);
  SignatureRef::release(signature_);
  delete[] name_;
  delete recipe_;
  delete this;
}

void Datatype::set_name(const char* name) {
  SORREL_ASSERT(!predefined_, "the name of a datatype of all ranks");
  const std::size_t length = std::min(std::strlen(name), std::size_t{MPI_MAX_OBJECT_NAME - 1});
  char* copy = new char[length + 1];
  std::memcpy(copy, name, length);
  copy[length] = '\0';
  delete[] name_;
  name_ = copy;
}

std::int64_t Datatype::count_in(std::size_t bytes) const {
  if (size_ == 0) return bytes == 0 ? 0 : MPI_UNDEFINED;
  return bytes % size_ == 0 ? static_cast<std::int64_t>(bytes / size_) : MPI_UNDEFINED;
}

std::int64_t Datatype::elements_in(std::size_t bytes) const {
  if (size_ == 0) return bytes == 0 ? 0 : MPI_UNDEFINED;
  if (element_size_ != 0)
    return bytes % element_size_ == 0 ? static_cast<std::int64_t>(bytes / element_size_)
                                      : MPI_UNDEFINED;
  const auto rest = signature_->elements_in(bytes % size_);
  if (!rest) return MPI_UNDEFINED;
  return static_cast<std::int64_t>(bytes / size_ * element_count_ + *rest);
}

std::size_t Datatype::bytes_of_elements(std::size_t elements) const {
  if (element_size_ != 0 || element_count_ == 0) return elements * element_size_;
  return elements / element_count_ * size_ + signature_->bytes_of(elements % element_count_);
}

}  // namespace sorrel::mpi
