//! ObjectMemory - memory of the objects to which a program's handles point.
//!
//! In a job that may be saved (runtime/checkpoint), such an object lies in the memory of the rank
//! that makes it, so that its handle is valid after a restart, and is in that rank's list. In other
//! jobs it is memory as any other. The rank's worker makes and frees its objects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include "base/intrusive_list.hpp"

namespace sorrel::mpi {

/// What an object is, in lists of objects.
enum class ObjectType : std::uint32_t {
  comm,
  group,
  datatype,
  op,
  errhandler,
  info,
  session,
  win,
  file,
  request,     ///< persistent
  attributes,  ///< values of predefined ones
};

/// Lies before its object.
struct ObjectNode : ListNode<ObjectNode> {
  ObjectType type;
};

using ObjectList = IntrusiveList<ObjectNode>;

class ObjectPlace;

/// How a job that may be saved allocates objects.
struct ObjectHooks {
  /// The list of the rank that runs; null outside of ranks.
  ObjectList* (*list_of_caller)() = nullptr;
  /// Memory of the rank that runs; null: none. free() takes it back.
  void* (*allocate)(std::size_t alignment, std::size_t bytes) = nullptr;
  /// Not null only while one thread restores ranks, and none runs.
  ObjectPlace* next_place = nullptr;
};

/// Once, before any rank runs.
void set_object_hooks(const ObjectHooks& hooks);

/// For the class's own operators new and delete. Null: no memory.
[[nodiscard]] void* allocate_object(ObjectType type, std::size_t bytes) noexcept;
void release_object(void* object) noexcept;

/// Whether the job may be saved.
[[nodiscard]] bool are_objects_listed();

/// Memory that the program asks for (MPI_Alloc_mem): in a job that may be saved, of the rank. Null:
/// no memory. free() takes it back.
[[nodiscard]] void* allocate_for_program(std::size_t alignment, std::size_t bytes) noexcept;

/// While one exists, the next object of this type gets the given memory, which had such an object
/// in another process, and is the last of the list. One at a time, while no rank runs.
class ObjectPlace {
 public:
  ObjectPlace(ObjectType type, void* object, ObjectList& list);
  ~ObjectPlace();
  ObjectPlace(const ObjectPlace&) = delete;
  ObjectPlace& operator=(const ObjectPlace&) = delete;

 private:
  friend void* allocate_object(ObjectType type, std::size_t bytes) noexcept;

  const ObjectType type_;
  void* const object_;
  ObjectList& list_;
};

/// The object has been copied from another process, with its contents.
void list_object(ObjectType type, void* object, ObjectList& list);

/// The object of a node.
[[nodiscard]] void* object_of(ObjectNode& node);

/// Base of classes whose objects are made by new and have handles. Has no data.
template <ObjectType type>
struct HandleObject {
  static void* operator new(std::size_t bytes) {
    void* object = allocate_object(type, bytes);
    if (object == nullptr) throw std::bad_alloc();
    return object;
  }

  static void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    return allocate_object(type, bytes);
  }

  static void* operator new(std::size_t bytes, std::align_val_t) { return operator new(bytes); }

  static void* operator new(std::size_t bytes,
                            std::align_val_t,
                            const std::nothrow_t& none) noexcept {
    return operator new(bytes, none);
  }

  static void* operator new(std::size_t, void* place) noexcept { return place; }

  static void operator delete(void* object) noexcept { release_object(object); }

  static void operator delete(void* object, std::align_val_t) noexcept { release_object(object); }
};

}  // namespace sorrel::mpi
