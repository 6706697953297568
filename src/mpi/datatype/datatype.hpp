//! Datatype - one MPI datatype: its size, bounds and layout, and the conversion from handles.
//!
//! Made by construct.hpp, or a constant of predefined.cpp; constant from then on, except for its
//! committed flag, name and owner count. A derived datatype belongs to one rank. Only that rank's
//! worker may call the functions that change it (commit, set_name, retain, release); every thread
//! may read. Predefined datatypes are shared by all ranks: for them these functions do nothing.
//! Data is copied by copy.hpp.
//!
//! Bounds follow MPI 5.0, 5.1.7: those set by resized or subarray are sticky, all others come from
//! the bounds of the old types. A struct's extent is rounded up to the strictest alignment among
//! its basic elements; the other constructors do not round, as in MPICH.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/cache_line.hpp"
#include "base/check.hpp"
#include "mpi.h"
#include "mpi/base/object_memory.hpp"
#include "mpi/datatype/element.hpp"
#include "mpi/datatype/layout.hpp"
#include "mpi/datatype/signature.hpp"

namespace sorrel::mpi {

class Recipe;

/// Begin and end of a datatype: as declared (lb, ub), and of its data (true_lb, true_ub).
struct Bounds {
  std::int64_t lb = 0;
  std::int64_t ub = 0;
  std::int64_t true_lb = 0;
  std::int64_t true_ub = 0;
  bool sticky = false;  ///< lb and ub were set explicitly; containing types keep them
};

/// The properties that construct.hpp computes for a new datatype.
struct DatatypeParts {
  Shape shape;
  Bounds bounds;
  std::size_t size = 0;
  Element element = Element::none;  ///< of all basic elements, if they agree
  ElementClass element_class = ElementClass::none;
  bool single = false;  ///< exactly one predefined element, as a dup of a predefined type is
  std::uint16_t alignment = 1;
  std::size_t element_size = 0;  ///< bytes of each basic element, 0 if they differ
  std::size_t element_count = 0;
  SignatureRef signature;  ///< only if the sizes differ
};

class alignas(cache_line_bytes) Datatype : public HandleObject<ObjectType::datatype> {
 public:
  /// An unused entry of the table of predefined datatypes.
  constexpr Datatype() = default;
  Datatype(const Datatype&) = delete;
  Datatype& operator=(const Datatype&) = delete;

  /// A new datatype with one owner, not committed.
  [[nodiscard]] static Datatype* create(DatatypeParts parts);

  /// Bytes of data.
  [[nodiscard]] std::size_t size() const { return size_; }

  [[nodiscard]] std::int64_t extent() const { return extent_; }

  [[nodiscard]] std::int64_t lb() const { return lb_; }

  [[nodiscard]] std::int64_t true_lb() const { return true_lb_; }

  [[nodiscard]] std::int64_t true_extent() const { return true_ub_ - true_lb_; }

  [[nodiscard]] Bounds bounds() const { return {lb_, lb_ + extent_, true_lb_, true_ub_, sticky_}; }

  /// One block from 0 to the extent: any count of it is one memcpy.
  [[nodiscard]] bool is_dense() const { return dense_; }

  [[nodiscard]] bool is_committed() const { return committed_; }

  [[nodiscard]] bool is_predefined() const { return predefined_; }

  /// Predefined, or a dup of it: the types that predefined operations accept.
  [[nodiscard]] bool is_single_element() const { return single_; }

  /// The kind of all basic elements; mixed if they differ.
  [[nodiscard]] Element element() const { return element_; }

  [[nodiscard]] ElementClass element_class() const { return element_class_; }

  [[nodiscard]] std::uint16_t alignment() const { return alignment_; }

  /// The data's layout, placed at offset() from the buffer; nullptr if there is no data.
  [[nodiscard]] const Layout* layout() const { return layout_; }

  [[nodiscard]] std::int64_t offset() const { return offset_; }

  /// Basic elements in one of this type, and the bytes of each (0: they differ, see the signature).
  [[nodiscard]] std::size_t element_count() const { return element_count_; }

  [[nodiscard]] std::size_t element_size() const { return element_size_; }

  [[nodiscard]] const Signature* signature() const { return signature_; }

  /// How many of this type `bytes` bytes are: MPI_Get_count. MPI_UNDEFINED if not a whole number.
  [[nodiscard]] std::int64_t count_in(std::size_t bytes) const;
  /// How many basic elements `bytes` bytes are: MPI_Get_elements. MPI_UNDEFINED if not a whole
  /// number.
  [[nodiscard]] std::int64_t elements_in(std::size_t bytes) const;
  /// The bytes of the first `elements` basic elements of a sequence of this type:
  /// MPI_Status_set_elements.
  [[nodiscard]] std::size_t bytes_of_elements(std::size_t elements) const;

  void commit() {
    if (!predefined_) committed_ = true;
  }

  [[nodiscard]] const char* name() const { return name_ == nullptr ? "" : name_; }

  /// For messages: the name, or a text for datatypes without a name.
  [[nodiscard]] const char* label() const {
    return *name() == '\0' ? "(derived, without a name)" : name();
  }

  /// Keeps at most MPI_MAX_OBJECT_NAME - 1 characters. Not for predefined datatypes, which all
  /// ranks share.
  void set_name(const char* name);

  /// The arguments of its constructor; null for predefined datatypes.
  [[nodiscard]] const Recipe* recipe() const { return recipe_; }

  void set_recipe(std::unique_ptr<Recipe> recipe) { recipe_ = recipe.release(); }

  /// The number of its owners.
  [[nodiscard]] std::uint32_t reference_count() const { return references_; }

  /// For a datatype that was made again, with all its owners.
  void set_reference_count(std::uint32_t count) {
    SORREL_ASSERT(is_valid() && !predefined_ && count != 0);
    references_ = count;
  }

  void retain() {
    SORREL_ASSERT(is_valid(), "the datatype has been destroyed");
    if (!predefined_) ++references_;
  }

  /// The last owner's release destroys the datatype.
  void release() {
    SORREL_ASSERT(is_valid() && (predefined_ || references_ != 0), "released too often");
    if (!predefined_ && --references_ == 0) destroy();
  }

  [[nodiscard]] MPI_Datatype handle() const {
    return reinterpret_cast<MPI_Datatype>(predefined_ ? constant_
                                                      : reinterpret_cast<std::uintptr_t>(this));
  }

  /// False for memory that holds no datatype, and for a destroyed one.
  [[nodiscard]] bool is_valid() const { return magic_ == magic; }

 private:
  friend struct PredefinedTable;
  static constexpr std::uint32_t magic = 0x50797444;  // "DtyP"

  /// Destroys this type, and those whose only owner it was.
  void destroy();
  /// Frees the memory of this type alone.
  void end();

  // Read by sends and receives, on one line. Constant after construction, except committed_.
  std::uint32_t magic_ = 0;
  bool dense_ = false;
  bool single_ = false;
  bool predefined_ = false;
  bool committed_ = false;
  Element element_ = Element::none;
  ElementClass element_class_ = ElementClass::none;
  std::uint16_t alignment_ = 1;
  std::uint16_t constant_ = 0;
  std::size_t size_ = 0;
  std::int64_t extent_ = 0;
  std::int64_t lb_ = 0;
  const Layout* layout_ = nullptr;
  std::int64_t offset_ = 0;

  // Read by queries. Constant after construction.
  alignas(cache_line_bytes) std::int64_t true_lb_ = 0;
  std::int64_t true_ub_ = 0;
  std::size_t element_size_ = 0;
  std::size_t element_count_ = 0;
  const Signature* signature_ = nullptr;
  bool sticky_ = false;

  // The owner's worker only.
  std::uint32_t references_ = 0;
  const char* name_ = nullptr;
  Recipe* recipe_ = nullptr;
};

static_assert(sizeof(Datatype) == 2 * cache_line_bytes, "an index into the table is a shift");

inline constexpr std::uintptr_t predefined_datatype_first = 0x200;
inline constexpr std::size_t predefined_datatype_count = 0x100;

/// The predefined datatypes by the standard ABI's constant; the entry of an unassigned constant is
/// not valid.
struct PredefinedTable {
  constexpr PredefinedTable();
  Datatype types[predefined_datatype_count];
};

extern const PredefinedTable predefined_datatypes;

/// The datatype of a handle; nullptr for MPI_DATATYPE_NULL and for an invalid handle.
[[nodiscard]] inline Datatype* datatype_from_handle(MPI_Datatype handle) {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  Datatype* type = nullptr;
  if (value - predefined_datatype_first < predefined_datatype_count) {
    // Constant: functions that change a datatype ignore predefined ones.
    type = const_cast<Datatype*>(&predefined_datatypes.types[value - predefined_datatype_first]);
  } else {
    // Other ABI constants, integers used as handles, and pointers with weaker alignment.
    if (value < 4096 || value % alignof(Datatype) != 0) [[unlikely]]
      return nullptr;
    type = reinterpret_cast<Datatype*>(value);
  }
  return type->is_valid() ? type : nullptr;
}

[[nodiscard]] inline MPI_Datatype handle_of(const Datatype& type) {
  return type.handle();
}

}  // namespace sorrel::mpi
