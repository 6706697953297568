#include "mpi/base/object_memory.hpp"

#include <cstdlib>
#include <utility>

#include "base/check.hpp"

namespace sorrel::mpi {

namespace {

constexpr std::size_t object_alignment = 64;
/// Size of a node, rounded up.
constexpr std::size_t node_bytes = object_alignment;

static_assert(sizeof(ObjectNode) <= node_bytes);

// Constant once ranks run.
ObjectHooks object_hooks;

constexpr std::size_t rounded_up(std::size_t bytes) {
  return (bytes + object_alignment - 1) / object_alignment * object_alignment;
}

}  // namespace

void set_object_hooks(const ObjectHooks& hooks) {
  object_hooks = hooks;
}

bool are_objects_listed() {
  return object_hooks.allocate != nullptr;
}

ObjectPlace::ObjectPlace(ObjectType type, void* object, ObjectList& list)
    : type_(type), object_(object), list_(list) {
  SORREL_ASSERT(object_hooks.next_place == nullptr && are_objects_listed());
  object_hooks.next_place = this;
}

ObjectPlace::~ObjectPlace() {
  if (object_hooks.next_place == this) object_hooks.next_place = nullptr;
}

void list_object(ObjectType type, void* object, ObjectList& list) {
  auto* node = new (static_cast<std::byte*>(object) - node_bytes) ObjectNode;
  node->type = type;
  list.push_back(*node);
}

void* allocate_for_program(std::size_t alignment, std::size_t bytes) noexcept {
  return object_hooks.allocate == nullptr ? std::aligned_alloc(alignment, bytes)
                                          : object_hooks.allocate(alignment, bytes);
}

void* allocate_object(ObjectType type, std::size_t bytes) noexcept {
  if (object_hooks.allocate == nullptr)
    return std::aligned_alloc(object_alignment, rounded_up(bytes));
  if (object_hooks.next_place != nullptr && object_hooks.next_place->type_ == type) {
    const ObjectPlace& place = *std::exchange(object_hooks.next_place, nullptr);
    list_object(type, place.object_, place.list_);
    return place.object_;
  }
  void* memory = object_hooks.allocate(object_alignment, node_bytes + rounded_up(bytes));
  if (memory == nullptr) return nullptr;
  auto* node = new (memory) ObjectNode;
  node->type = type;
  if (ObjectList* list = object_hooks.list_of_caller(); list != nullptr) list->push_back(*node);
  return static_cast<std::byte*>(memory) + node_bytes;
}

void release_object(void* object) noexcept {
  if (object == nullptr) return;
  if (object_hooks.allocate == nullptr) {
    std::free(object);
    return;
  }
  auto* node = reinterpret_cast<ObjectNode*>(static_cast<std::byte*>(object) - node_bytes);
  if (node->is_linked()) ObjectList::remove(*node);
  std::free(node);
}

void* object_of(ObjectNode& node) {
  return reinterpret_cast<std::byte*>(&node) + node_bytes;
}

}  // namespace sorrel::mpi
