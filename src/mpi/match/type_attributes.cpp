#include "mpi/match/type_attributes.hpp"

namespace sorrel::mpi {

AttributeMap* TypeAttributes::find(const Datatype& type) const {
  const auto found = entries_.find(&type);
  return found == entries_.end() ? nullptr : found->second.attributes.get();
}

AttributeMap& TypeAttributes::make(const Datatype& type) {
  AttributeMapPointer& attributes = entries_[&type].attributes;
  if (attributes == nullptr) attributes = std::make_unique<AttributeMap>();
  return *attributes;
}

void TypeAttributes::add_handle(const Datatype& type) {
  if (!type.is_predefined()) ++entries_[&type].further_handle_count;
}

int TypeAttributes::drop_handle(const Datatype& type) {
  const auto found = entries_.find(&type);
  if (found == entries_.end()) return MPI_SUCCESS;
  if (found->second.further_handle_count > 0) {
    --found->second.further_handle_count;
    return MPI_SUCCESS;
  }
  const int error = delete_attributes(attribute_handle_of(type), found->second.attributes);
  // Searched again: a callback may have changed the table.
  if (error == MPI_SUCCESS) entries_.erase(&type);
  return error;
}

int TypeAttributes::copy(const Datatype& from, const Datatype& to) {
  const AttributeMap* attributes = find(from);
  if (attributes == nullptr) return MPI_SUCCESS;
  auto copied = std::make_unique<AttributeMap>();
  const int error = attributes->copy_to(attribute_handle_of(from), *copied);
  entries_[&to].attributes = std::move(copied);
  return error;
}

}  // namespace sorrel::mpi
