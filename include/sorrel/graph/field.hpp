//! Field - values of a type, one for each cell of a rank's block and its ghosts; View - a field as
//! the body of a sweep accesses it.
//!
//! Cells have global indices. The last dimension is contiguous. A field must outlive the graphs
//! that use it and the fields it rotates with, and must not be moved. With SORREL_GRAPH_AUDIT
//! defined, every access of a body is checked against the declaration of the sweep; an undeclared
//! access throws GraphError with the names of task, field and cell. The check makes bodies several
//! times slower.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <sorrel/graph/graph.hpp>
#include <sorrel/graph/tiling.hpp>

namespace sorrel::graph {

#if defined(SORREL_GRAPH_AUDIT)
/// Whether accesses are audited: SORREL_GRAPH_AUDIT is defined.
inline constexpr bool is_auditing = true;
#else
/// Whether accesses are audited: SORREL_GRAPH_AUDIT is defined.
inline constexpr bool is_auditing = false;
#endif

/// Untyped part of a field.
class AnyField {
 public:
  AnyField(const AnyField&) = delete;
  AnyField& operator=(const AnyField&) = delete;

  /// @return the tiling it was made with
  [[nodiscard]] const Tiling& tiling() const { return *tiling_; }

  /// @return the name, for messages
  [[nodiscard]] const std::string& name() const { return name_; }

  /// @return the size of a value in bytes
  [[nodiscard]] std::size_t value_bytes() const { return value_bytes_; }

  /// @return the distance from a cell to the next one in each dimension, in values
  [[nodiscard]] const Key& strides() const { return strides_; }

  /// Changes with run() if the field rotates.
  ///
  /// @return the address that the cell whose indices are 0 would have
  [[nodiscard]] std::byte* origin() const { return origin_; }

  /// The same in one step of a running graph.
  ///
  /// @param step of the run, from 0
  /// @return the address that the cell whose indices are 0 would have
  [[nodiscard]] std::byte* origin(Index step) const {
    return rotation_.size() == 1
               ? rotation_[0]
               : rotation_[(place_ + static_cast<std::size_t>(step)) % rotation_.size()];
  }

 protected:
  AnyField(const Tiling& tiling, std::string name, std::size_t value_bytes)
      : tiling_(&tiling),
        name_(name.empty() ? "field" : std::move(name)),
        value_bytes_(value_bytes) {
    Index stride = 1;
    for (auto d = static_cast<std::size_t>(tiling.dimension_count()); d-- > 0;) {
      const KeyBox cells = tiling.block_with_ghosts();
      strides_[d] = stride;
      stride *= cells.hi[d] - cells.lo[d];
    }
  }

  ~AnyField() = default;

  /// Number of values stored before a cell.
  [[nodiscard]] Index place_of(const Key& cell) const {
    Index place = 0;
    for (std::size_t d = 0; d < cell.size(); ++d)
      place += cell[d] * strides_[d];
    return place;
  }

  void set_origin(std::byte* origin) {
    origin_ = origin;
    rotation_.assign(1, origin);
  }

 private:
  friend class Graph;

  const Tiling* tiling_;
  std::string name_;
  std::size_t value_bytes_;
  Key strides_{};
  std::byte* origin_ = nullptr;
  /// Origins of the fields of the rotation, in order, and the index of the one it has at step 0.
  std::vector<std::byte*> rotation_;
  std::size_t place_ = 0;
};

/// Values of type T, one for each cell of a rank's block and its ghosts, contiguous in the last
/// dimension. T is trivially copyable, since ghosts travel as bytes.
template <class T>
class Field : public AnyField {
  static_assert(std::is_trivially_copyable_v<T>,
                "the values of a Field are trivially copyable, since ghosts travel as bytes");

 public:
  /// @param tiling the block and its ghosts; must outlive the field
  /// @param name for error messages and Graph::print()
  /// @param value of all cells and ghosts
  explicit Field(const Tiling& tiling, std::string name = "field", T value = {})
      : AnyField(tiling, std::move(name), sizeof(T)),
        values_(static_cast<std::size_t>(tiling.block_with_ghosts().count()), value) {
    set_origin(
        reinterpret_cast<std::byte*>(values_.data() - place_of(tiling.block_with_ghosts().lo)));
  }

  /// A cell of the block or a ghost. Not while a graph uses the field.
  ///
  /// @param i index in dimension 0 of the whole grid
  /// @param j in dimension 1; 0 if the grid has no such dimension
  /// @param k in dimension 2
  /// @param l in dimension 3
  /// @return its value
  T& operator()(Index i, Index j = 0, Index k = 0, Index l = 0) {
    return reinterpret_cast<T*>(origin())[place_of({i, j, k, l})];
  }

  /// The same of a field that is only read.
  ///
  /// @param i index in dimension 0 of the whole grid
  /// @param j in dimension 1; 0 if the grid has no such dimension
  /// @param k in dimension 2
  /// @param l in dimension 3
  /// @return its value
  const T& operator()(Index i, Index j = 0, Index k = 0, Index l = 0) const {
    return reinterpret_cast<const T*>(origin())[place_of({i, j, k, l})];
  }

  /// Sets every cell and every ghost. Before the first step, ghosts must hold the values of their
  /// cells: use this to set them.
  ///
  /// @param value called as value(i, j, k, l) or value(i, j, k), with indices of the whole grid
  template <class Value>
  void fill(Value&& value) {
    for (const auto& [i, j, k, l] : tiling().block_with_ghosts()) {
      if constexpr (std::is_invocable_v<Value&, Index, Index, Index, Index>) {
        (*this)(i, j, k, l) = value(i, j, k, l);
      } else {
        (*this)(i, j, k, l) = value(i, j, k);
      }
    }
  }

 private:
  std::vector<T> values_;
};

/// The cells of a field that a body may access; kept where accesses are audited.
struct Permission {
  const AnyField* field = nullptr;
  const char* sweep = "";
  Task task;
  KeyBox cells;
  Footprint footprint;

  /// Throws GraphError if the cell is not permitted.
  void check(const Key& cell) const;
};

/// A field in one step: v(i, j, k). A View of a const T is read only.
template <class T, bool is_audited = is_auditing>
class View {
 public:
  /// Made by the graph for each tile and step.
  ///
  /// @param origin the address that the cell whose indices are 0 would have
  /// @param strides the distance from a cell to the next one in each dimension, in values
  /// @param permission the cells that may be accessed, where accesses are audited
  View(std::byte* origin, const Key& strides, const Permission& permission)
      : origin_(reinterpret_cast<T*>(origin)), strides_(strides) {
    if constexpr (is_audited) permission_ = permission;
  }

  /// @param dimension 0 is the first one
  /// @return the distance from a cell to the next one there, in values; 1 in the last dimension
  [[nodiscard]] Index stride(int dimension) const {
    return strides_[static_cast<std::size_t>(dimension)];
  }

  /// @param i index in the whole grid
  /// @return the value of the cell
  /// @throws GraphError where accesses are audited, for a cell that the sweep has not declared
  T& operator()(Index i) const { return at(i, {i}); }

  /// @param i index in dimension 0 of the whole grid
  /// @param j index in dimension 1 of the whole grid
  /// @return the value of the cell
  /// @throws GraphError where accesses are audited, for a cell that the sweep has not declared
  T& operator()(Index i, Index j) const { return at(i * strides_[0] + j, {i, j}); }

  /// @param i index in dimension 0 of the whole grid
  /// @param j index in dimension 1 of the whole grid
  /// @param k index in dimension 2 of the whole grid
  /// @return the value of the cell
  /// @throws GraphError where accesses are audited, for a cell that the sweep has not declared
  T& operator()(Index i, Index j, Index k) const {
    return at(i * strides_[0] + j * strides_[1] + k, {i, j, k});
  }

  /// @param i index in dimension 0 of the whole grid
  /// @param j index in dimension 1 of the whole grid
  /// @param k index in dimension 2 of the whole grid
  /// @param l index in dimension 3 of the whole grid
  /// @return the value of the cell
  /// @throws GraphError where accesses are audited, for a cell that the sweep has not declared
  T& operator()(Index i, Index j, Index k, Index l) const {
    return at(i * strides_[0] + j * strides_[1] + k * strides_[2] + l, {i, j, k, l});
  }

 private:
  struct Nothing {};

  T& at(Index place, [[maybe_unused]] const Key& cell) const {
    if constexpr (is_audited) permission_.check(cell);
    return origin_[place];
  }

  T* origin_;
  Key strides_;
  [[no_unique_address]] std::conditional_t<is_audited, Permission, Nothing> permission_;
};

}  // namespace sorrel::graph
