#include "mpi/comm/attribute.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "core/worker.hpp"

namespace sorrel::mpi {

namespace {

void release(Keyval& keyval) {
  SORREL_ASSERT(keyval.reference_count > 0, "an attribute or a number is dropped twice");
  --keyval.reference_count;
}

}  // namespace

Keyval& KeyvalTable::create(MPI_Comm_copy_attr_function* copy,
                            MPI_Comm_delete_attr_function* remove,
                            void* extra_state) {
  auto free = std::find_if(keyvals_.begin(), keyvals_.end(),
                           [](const auto& keyval) { return keyval->reference_count == 0; });
  if (free == keyvals_.end()) free = keyvals_.insert(free, std::make_unique<Keyval>());
  **free = {.owner = AttributeOwner::comm,
            .number = first_number + static_cast<int>(free - keyvals_.begin()),
            .copy = copy,
            .remove = remove,
            .extra_state = extra_state,
            .is_freed = false,
            .reference_count = 1};
  return **free;
}

Keyval& KeyvalTable::create_for_windows(MPI_Win_delete_attr_function* remove, void* extra_state) {
  Keyval& keyval = create(MPI_COMM_NULL_COPY_FN,
                          reinterpret_cast<MPI_Comm_delete_attr_function*>(remove), extra_state);
  keyval.owner = AttributeOwner::win;
  return keyval;
}

Keyval& KeyvalTable::create_for_types(MPI_Type_copy_attr_function* copy,
                                      MPI_Type_delete_attr_function* remove,
                                      void* extra_state) {
  Keyval& keyval = create(reinterpret_cast<MPI_Comm_copy_attr_function*>(copy),
                          reinterpret_cast<MPI_Comm_delete_attr_function*>(remove), extra_state);
  keyval.owner = AttributeOwner::type;
  return keyval;
}

Keyval* KeyvalTable::find(int number, AttributeOwner owner) const {
  if (number < first_number) return nullptr;
  const auto index = static_cast<std::size_t>(number - first_number);
  if (index >= keyvals_.size()) return nullptr;
  Keyval* keyval = keyvals_[index].get();
  return keyval->reference_count == 0 || keyval->owner != owner ? nullptr : keyval;
}

int KeyvalTable::free(int number, AttributeOwner owner, ErrorDetail& detail) {
  Keyval* keyval = find(number, owner);
  if (keyval == nullptr || keyval->is_freed)
    return detail.fail(MPI_ERR_KEYVAL,
                       "invalid keyval %d; it must be one that this rank has created and not freed",
                       number);
  keyval->is_freed = true;
  release(*keyval);
  return MPI_SUCCESS;
}

void KeyvalTable::add_restored(const Keyval& keyval) {
  keyvals_.push_back(std::make_unique<Keyval>(keyval));
  keyvals_.back()->reference_count = keyval.reference_count == 0 || keyval.is_freed ? 0 : 1;
}

AttributeMap::~AttributeMap() {
  for (const Attribute& attribute : attributes_)
    release(*attribute.keyval);
}

bool AttributeMap::get(const Keyval& keyval, void** value) const {
  for (const Attribute& attribute : attributes_) {
    if (attribute.keyval != &keyval) continue;
    *value = attribute.value;
    return true;
  }
  return false;
}

int AttributeMap::set(MPI_Comm handle, Keyval& keyval, void* value) {
  if (const int error = erase(handle, keyval); error != MPI_SUCCESS) return error;
  // The delete callback may have set the attribute again: it is replaced without a callback.
  forget(keyval);
  attributes_.push_back({.keyval = &keyval, .value = value});
  ++keyval.reference_count;
  return MPI_SUCCESS;
}

void AttributeMap::add_restored(Keyval& keyval, void* value) {
  attributes_.push_back({.keyval = &keyval, .value = value});
  ++keyval.reference_count;
}

int AttributeMap::erase(MPI_Comm handle, Keyval& keyval) {
  void* value = nullptr;
  if (!get(keyval, &value)) return MPI_SUCCESS;
  if (keyval.remove != MPI_COMM_NULL_DELETE_FN) {
    const core::PinnedFiber pinned;
    const int error = keyval.remove(handle, keyval.number, value, keyval.extra_state);
    if (error != MPI_SUCCESS) return error;
  }
  // Searched again: the callback may have changed the list.
  forget(keyval);
  return MPI_SUCCESS;
}

int AttributeMap::erase_all(MPI_Comm handle) {
  while (!attributes_.empty()) {
    const int error = erase(handle, *attributes_.back().keyval);
    if (error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

int AttributeMap::copy_to(MPI_Comm handle, AttributeMap& to) const {
  SORREL_ASSERT(to.attributes_.empty());
  // By index: a callback may set or delete attributes of this map.
  for (std::size_t i = 0; i < attributes_.size(); ++i) {
    const Attribute from = attributes_[i];
    if (from.keyval->copy == MPI_COMM_NULL_COPY_FN) continue;
    void* value = from.value;
    int is_wanted = 1;
    if (from.keyval->copy != MPI_COMM_DUP_FN) {
      is_wanted = 0;
      const core::PinnedFiber pinned;
      const int error = from.keyval->copy(handle, from.keyval->number, from.keyval->extra_state,
                                          from.value, &value, &is_wanted);
      if (error != MPI_SUCCESS) return error;
    }
    if (is_wanted == 0) continue;
    to.attributes_.push_back({.keyval = from.keyval, .value = value});
    ++from.keyval->reference_count;
  }
  return MPI_SUCCESS;
}

void AttributeMap::forget(const Keyval& keyval) {
  const auto found = std::find_if(attributes_.begin(), attributes_.end(),
                                  [&](const Attribute& a) { return a.keyval == &keyval; });
  if (found == attributes_.end()) return;
  release(*found->keyval);
  attributes_.erase(found);
}

int copy_attributes(MPI_Comm from_handle,
                    const AttributeMapPointer& from,
                    AttributeMapPointer& to) {
  if (from == nullptr) return MPI_SUCCESS;
  to = std::make_unique<AttributeMap>();
  return from->copy_to(from_handle, *to);
}

int delete_attributes(MPI_Comm handle, const AttributeMapPointer& attributes) {
  return attributes == nullptr ? MPI_SUCCESS : attributes->erase_all(handle);
}

int* PredefinedAttributes::find(int number) {
  switch (number) {
    case MPI_TAG_UB:
      return &tag_ub;
    case MPI_IO:
      return &io;
    case MPI_HOST:
      return &host;
    case MPI_WTIME_IS_GLOBAL:
      return &wtime_is_global;
    case MPI_APPNUM:
      return &appnum;
    case MPI_UNIVERSE_SIZE:
      return &universe_size;
    case MPI_LASTUSEDCODE:
      return &last_used_code;
    default:
      return nullptr;
  }
}

}  // namespace sorrel::mpi
