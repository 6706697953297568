//! Layout - the positions of the bytes of a datatype: an immutable tree, small for regular types.
//!
//! Four kinds of node: a block of bytes, a loop (count, stride, child), segments (blocks of any
//! length at any offset) and branches (children at any offset). Built through repeat() and
//! LayoutBuilder, which keep it in normal form: neighbouring blocks are one block, loops that
//! continue each other are one loop, a regular list is a loop, a single child replaces its list, no
//! node is without bytes. So vector(1000000, 1, 2) is two nodes.
//!
//! A node is shared by the datatypes made from it and counts its owners without atomics: one rank
//! owns them all. Nodes of predefined datatypes are constants (no count, never freed) and shared by
//! every rank. Any thread may read. Limit: layout_depth_max levels, checked by the constructors of
//! datatypes, so that recursion fits a rank's stack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sorrel::mpi {

inline constexpr std::uint32_t layout_depth_max = 100;

class Layout;

/// A block of bytes. `packed` is its offset in the packed stream; its length is the next segment's
/// `packed` minus its own.
struct Segment {
  std::int64_t displacement;
  std::size_t packed;
};

/// A child with its displacement and its offset in the packed stream.
struct Branch {
  std::int64_t displacement;
  std::size_t packed;
  const Layout* child;
};

/// One node. Displacements count from the address of the node's data. Read-only.
class Layout {
 public:
  enum class Kind : std::uint8_t { block, loop, segments, branches };

  /// Constants for predefined datatypes.
  constexpr explicit Layout(std::size_t block_bytes) : bytes(block_bytes) {}

  constexpr Layout(const Segment* list, std::size_t segment_count)
      : kind(Kind::segments),
        bytes(list[segment_count].packed),
        count(segment_count),
        segments(list) {}

  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;

  Kind kind = Kind::block;
  std::uint32_t depth = 1;
  std::size_t bytes;                  ///< of data; > 0
  std::size_t count = 1;              ///< of iterations, segments or branches
  std::int64_t stride = 0;            ///< loop
  const Layout* child = nullptr;      ///< loop
  std::size_t uniform_bytes = 0;      ///< segments: the length of each, or 0
  const Segment* segments = nullptr;  ///< count + 1 of them: the last one only ends its predecessor
  const Branch* branches = nullptr;

 private:
  friend class LayoutRef;
  friend class LayoutBuilder;
  friend struct Shape repeat(const struct Shape& shape, std::size_t count, std::int64_t stride);
  /// A node on the heap with one owner, to be passed to LayoutRef::adopt().
  [[nodiscard]] static Layout* create(std::size_t data_bytes);
  static void destroy(const Layout* node);

  // The owner's rank only. 0 means a constant, which is never counted.
  mutable std::uint32_t references_ = 0;
};

/// An owner of a node; empty for a type without data.
class LayoutRef {
 public:
  LayoutRef() = default;

  /// Adds a reference to a node.
  explicit LayoutRef(const Layout* node) : node_(node) { retain(node_); }

  /// Takes over the creator's reference.
  [[nodiscard]] static LayoutRef adopt(const Layout* node) {
    LayoutRef reference;
    reference.node_ = node;
    return reference;
  }

  LayoutRef(const LayoutRef& other) : LayoutRef(other.node_) {}

  LayoutRef(LayoutRef&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}

  LayoutRef& operator=(LayoutRef other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }

  ~LayoutRef() { release(node_); }

  [[nodiscard]] const Layout* get() const { return node_; }

  [[nodiscard]] const Layout* operator->() const { return node_; }

  [[nodiscard]] explicit operator bool() const { return node_ != nullptr; }

  static void retain(const Layout* node) {
    if (node != nullptr && node->references_ != 0) ++node->references_;
  }

  static void release(const Layout* node) {
    if (node != nullptr && node->references_ != 0 && --node->references_ == 0)
      Layout::destroy(node);
  }

 private:
  const Layout* node_ = nullptr;
};

/// A layout at `offset` from the address of the buffer.
struct Shape {
  std::int64_t offset = 0;
  LayoutRef layout;
};

/// `count` times the shape, `stride` bytes apart. The caller has checked that every displacement
/// fits.
[[nodiscard]] Shape repeat(const Shape& shape, std::size_t count, std::int64_t stride);

/// Collects shapes at displacements, in the order of the packed stream.
class LayoutBuilder {
 public:
  void add(std::int64_t displacement, const Shape& shape);
  /// As add(), but splits a list of segments, so that neighbours across members of a struct can
  /// merge.
  void add_spliced(std::int64_t displacement, const Shape& shape);
  [[nodiscard]] Shape finish();

 private:
  struct Entry {
    std::int64_t displacement;
    std::size_t block_bytes;  ///< 0: the child decides
    LayoutRef child;

    [[nodiscard]] std::size_t bytes() const { return child ? child->bytes : block_bytes; }
  };

  void add_block(std::int64_t displacement, std::size_t block_bytes);
  [[nodiscard]] bool is_regular() const;
  [[nodiscard]] Shape make_segments() const;
  [[nodiscard]] Shape make_branches() const;

  std::vector<Entry> entries_;
};

}  // namespace sorrel::mpi
