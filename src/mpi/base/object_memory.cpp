#include "mpi/base/object_memory.hpp"

#include <cstdlib>

namespace sorrel::mpi {

namespace {

constexpr std::size_t object_alignment = 64;
/// Of a node, rounded up.
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

void* allocate_object(ObjectType type, std::size_t bytes) noexcept {
  if (object_hooks.allocate == nullptr)
    return std::aligned_alloc(object_alignment, rounded_up(bytes));
  void* memory = object_hooks.allocate(node_bytes + rounded_up(bytes));
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
