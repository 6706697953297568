//! Field - values of a type, one for each cell of a rank's block and its ghosts; View - a field as
//! the body of a sweep accesses it.
//!
//! Cells have global indices; the number of dimensions is in the type, and the compiler checks the
//! number of indices. The last dimension is contiguous. A field must outlive the graphs that use it
//! and the fields it rotates with, and must not be moved. With SORREL_GRAPH_AUDIT defined, every
//! access of a body by a View is checked against the declaration of the sweep; an undeclared access
//! throws GraphError with the names of task, field and cell. The check makes bodies several times
//! slower.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>
#include <version>

#if defined(__cpp_lib_mdspan)
#include <mdspan>
#endif

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

/// The indices of a cell: one for each dimension.
template <std::size_t dimensions, class... Indices>
concept IndicesOfACell =
    sizeof...(Indices) == dimensions && (std::convertible_to<Indices, Index> && ...);

/// What a field is without the type of its values and the number of its dimensions: where they lie.
///
/// The first cell of the block has an address that is a multiple of `alignment`. So have the first
/// cells of its rows, in the last dimension, if rows of 512 bytes and more are padded; see
/// strides(). The memory is first written in the constructor: by all threads that loops may use,
/// each a contiguous part, if the grid is on one rank; else by the rank itself.
class AnyField {
 public:
  /// The alignment of the first cell, and of padded rows, in bytes.
  static constexpr std::size_t alignment = 64;

  AnyField(const AnyField&) = delete;
  AnyField& operator=(const AnyField&) = delete;

  /// @return the tiling it was made with
  [[nodiscard]] const AnyTiling& tiling() const { return *tiling_; }

  /// @return the name, for messages
  [[nodiscard]] const std::string& name() const { return name_; }

  /// @return the size of a value in bytes
  [[nodiscard]] std::size_t value_bytes() const { return value_bytes_; }

  /// Rows of 512 bytes and more begin at cache lines, and never a multiple of 4096 bytes apart.
  ///
  /// @return the distance from a cell to the next one in each dimension, in values
  [[nodiscard]] const Key& strides() const { return strides_; }

  /// Changes with run() if the field rotates.
  ///
  /// @return the address of the first ghost, or of the first cell if there are none
  [[nodiscard]] std::byte* data() const { return data_; }

  /// data() in one step of a running graph.
  ///
  /// @param step of the run, from 0
  /// @return the address of the first ghost
  [[nodiscard]] std::byte* data(Index step) const {
    return rotation_.size() == 1
               ? rotation_[0]
               : rotation_[(place_ + static_cast<std::size_t>(step)) % rotation_.size()];
  }

  /// @param cell of the block or a ghost, 0 in dimensions that the grid does not have
  /// @return its distance from the first ghost, in values
  [[nodiscard]] Index place_of(const Key& cell) const {
    Index place = -place_of_zero_;
    for (std::size_t d = 0; d < cell.size(); ++d)
      place += cell[d] * strides_[d];
    return place;
  }

 protected:
  /// Room for the values, in memory that nothing has written.
  AnyField(const AnyTiling& tiling, std::string name, std::size_t value_bytes);
  ~AnyField() = default;

  /// Sum of indices times strides of the first ghost.
  [[nodiscard]] Index place_of_zero() const { return place_of_zero_; }

  /// The caller has set all ghosts.
  void set_filled() { filled_ = {tiling().halo(), true}; }

  /// Calls set(field, begin, end) for parts of the memory, padding included, in values from its
  /// begin; see the class for the threads that do. May suspend.
  void set_all(void (*set)(void* value, std::byte* begin, std::byte* end), void* value);

 private:
  friend class Graph;

  struct Free {
    void operator()(std::byte* memory) const {
      ::operator delete(memory, std::align_val_t(alignment));
    }
  };

  const AnyTiling* tiling_;
  std::string name_;
  std::size_t value_bytes_;
  Key strides_{};
  Index place_of_zero_ = 0;
  std::size_t memory_bytes_ = 0;
  std::unique_ptr<std::byte, Free> memory_;
  std::byte* data_ = nullptr;
  /// How far the ghosts have the values of their cells.
  Footprint filled_;
  /// data() of the fields of the rotation, in order, and the index of the one it has at step 0.
  std::vector<std::byte*> rotation_;
  std::size_t place_ = 0;
};

namespace detail {

/// Whether a function takes an index for each dimension.
template <class Function, std::size_t... dimension>
constexpr bool takes_cell(std::index_sequence<dimension...>) {
  return std::is_invocable_v<Function&, std::conditional_t<dimension == 0, Index, Index>...>;
}

}  // namespace detail

#if defined(__cpp_lib_mdspan)
/// What to_mdspan() returns: the block with its ghosts, whose first one has the indices 0.
template <class T, std::size_t dimensions>
using Mdspan = std::mdspan<T, std::dextents<Index, dimensions>, std::layout_stride>;

namespace detail {

template <class T, std::size_t dimensions>
Mdspan<T, dimensions> mdspan_of(T* data, const Box<dimensions>& bounds, const Key& strides) {
  std::array<Index, dimensions> of_dimensions{};
  for (std::size_t d = 0; d < dimensions; ++d)
    of_dimensions[d] = strides[d];
  return {data, std::layout_stride::mapping(std::dextents<Index, dimensions>(bounds.extents()),
                                            of_dimensions)};
}

}  // namespace detail
#endif

/// Values of type T, one for each cell of a rank's block and its ghosts, contiguous in the last
/// dimension. T is trivially copyable, since ghosts travel as bytes.
/// @code
/// Field<double, 2> now(tiling, "now");
/// now(i, j) = 1;
/// @endcode
template <class T, std::size_t dimensions>
class Field : public AnyField {
  static_assert(std::is_trivially_copyable_v<T>,
                "the values of a Field are trivially copyable, since ghosts travel as bytes");
  static_assert(alignof(T) <= alignment, "the values of a Field are aligned to 64 bytes at most");

 public:
  using element_type = T;    ///< of a value
  using value_type = T;      ///< of a value
  using index_type = Index;  ///< of an index
  using reference = T&;      ///< to a value

  /// May suspend.
  ///
  /// @param tiling the block and its ghosts; must outlive the field
  /// @param name for error messages and Graph::print()
  /// @param value of all cells and ghosts
  explicit Field(const Tiling<dimensions>& tiling, std::string name = "field", T value = {})
      : AnyField(tiling, std::move(name), sizeof(T)) {
    set_all(
        [](void* first, std::byte* begin, std::byte* end) {
          std::uninitialized_fill(reinterpret_cast<T*>(begin), reinterpret_cast<T*>(end),
                                  *static_cast<const T*>(first));
        },
        &value);
  }

  /// The field would refer to a tiling that is gone.
  explicit Field(const Tiling<dimensions>&& tiling,
                 std::string name = "field",
                 T value = {}) = delete;

  /// @return the number of dimensions
  static constexpr std::size_t rank() { return dimensions; }

  /// @return the tiling it was made with
  [[nodiscard]] const Tiling<dimensions>& tiling() const {
    return static_cast<const Tiling<dimensions>&>(AnyField::tiling());
  }

  /// @return the cells that it has values for: the block with its ghosts
  [[nodiscard]] Box<dimensions> bounds() const { return tiling().block_with_ghosts(); }

  /// @param dimension 0 is the first one
  /// @return the distance from a cell to the next one there, in values; 1 in the last dimension
  [[nodiscard]] Index stride(std::size_t dimension) const { return strides()[dimension]; }

  /// Changes with run() if the field rotates.
  ///
  /// @return the address of the first ghost
  [[nodiscard]] T* data_handle() { return reinterpret_cast<T*>(data()); }

  /// @return the address of the first ghost
  [[nodiscard]] const T* data_handle() const { return reinterpret_cast<const T*>(data()); }

  /// A cell of the block or a ghost. Not while a graph uses the field.
  ///
  /// @param cell its indices in the whole grid
  /// @return its value
  T& operator[](const std::array<Index, dimensions>& cell) { return data_handle()[place_in(cell)]; }

  /// A cell or a ghost of a field that is only read.
  ///
  /// @param cell its indices in the whole grid
  /// @return its value
  const T& operator[](const std::array<Index, dimensions>& cell) const {
    return data_handle()[place_in(cell)];
  }

  /// A cell of the block or a ghost. Not while a graph uses the field.
  ///
  /// @param indices one for each dimension of the whole grid
  /// @return its value
  template <class... Indices>
    requires IndicesOfACell<dimensions, Indices...>
  T& operator()(Indices... indices) {
    return (*this)[{static_cast<Index>(indices)...}];
  }

  /// A cell or a ghost of a field that is only read.
  ///
  /// @param indices one for each dimension of the whole grid
  /// @return its value
  template <class... Indices>
    requires IndicesOfACell<dimensions, Indices...>
  const T& operator()(Indices... indices) const {
    return (*this)[{static_cast<Index>(indices)...}];
  }

#if defined(__cpp_multidimensional_subscript)
  /// operator() by the name that std::mdspan gives it.
  ///
  /// @param indices one for each dimension of the whole grid
  /// @return its value
  template <class... Indices>
    requires IndicesOfACell<dimensions, Indices...>
  T& operator[](Indices... indices) {
    return (*this)(indices...);
  }

  /// operator() by the name that std::mdspan gives it.
  ///
  /// @param indices one for each dimension of the whole grid
  /// @return its value
  template <class... Indices>
    requires IndicesOfACell<dimensions, Indices...>
  const T& operator[](Indices... indices) const {
    return (*this)(indices...);
  }
#endif

#if defined(__cpp_lib_mdspan)
  /// Not while a graph uses the field.
  ///
  /// @return the block with its ghosts; the cell of the indices 0 is bounds().lo
  [[nodiscard]] Mdspan<T, dimensions> to_mdspan() {
    return detail::mdspan_of(data_handle(), bounds(), strides());
  }

  /// @return the block with its ghosts, only read
  [[nodiscard]] Mdspan<const T, dimensions> to_mdspan() const {
    return detail::mdspan_of(data_handle(), bounds(), strides());
  }
#endif

  /// Sets every cell and every ghost. Before a run, ghosts must hold the values of their cells,
  /// except where a graph has written these: use this to set them.
  ///
  /// @param value called as value(i, j) with an index of the whole grid for each dimension
  template <class Value>
  void fill(Value&& value) {
    constexpr bool takes_cell = detail::takes_cell<Value>(std::make_index_sequence<dimensions>());
    static_assert(takes_cell, "fill() calls value(i, j) with an index for each dimension");
    if constexpr (takes_cell) {
      for (const auto& cell : bounds())
        (*this)[cell] = std::apply(value, cell);
      set_filled();
    }
  }

 private:
  [[nodiscard]] Index place_in(const std::array<Index, dimensions>& cell) const {
    Index place = cell[dimensions - 1] - place_of_zero();
    for (std::size_t d = 0; d + 1 < dimensions; ++d)
      place += cell[d] * strides()[d];
    return place;
  }
};

/// The cells of a field that a body may access; kept where accesses are audited.
struct Permission {
  const AnyField* field = nullptr;
  const char* sweep = "";
  Task task;
  Box<dimension_count_max> cells;
  Footprint footprint;

  /// Throws GraphError if the cell is not permitted.
  void check(const Key& cell) const;
};

/// A field in one step: v(i, j, k). A View of a const T is read only. Its names are those of
/// std::mdspan, but for the indices: these are of the whole grid.
template <class T, std::size_t dimensions, bool is_audited = is_auditing>
class View {
 public:
  using element_type = T;                  ///< of a value
  using value_type = std::remove_cv_t<T>;  ///< of a value
  using index_type = Index;                ///< of an index
  using reference = T&;                    ///< to a value

  /// Made by the graph for each tile and step.
  ///
  /// @param field of as many dimensions, with values of this type
  /// @param step of the run, from 0
  /// @param permission the cells that may be accessed, where accesses are audited
  View(const AnyField& field, Index step, const Permission& permission)
      : data_(reinterpret_cast<T*>(field.data(step))),
        zero_(reinterpret_cast<std::uintptr_t>(data_) +
              static_cast<std::uintptr_t>(field.place_of({})) * sizeof(T)),
        tiling_(&field.tiling()) {
    for (std::size_t d = 0; d < dimensions; ++d)
      strides_[d] = field.strides()[d];
    if constexpr (is_audited) permission_ = permission;
  }

  /// @return the number of dimensions
  static constexpr std::size_t rank() { return dimensions; }

  /// @return the cells that the field has values for: the block with its ghosts
  [[nodiscard]] Box<dimensions> bounds() const {
    return tiling_->block_with_ghosts().template first<dimensions>();
  }

  /// @param dimension 0 is the first one
  /// @return the distance from a cell to the next one there, in values; 1 in the last dimension
  [[nodiscard]] Index stride(std::size_t dimension) const { return strides_[dimension]; }

  /// @return the address of the first ghost
  [[nodiscard]] T* data_handle() const { return data_; }

  /// @param cell its indices in the whole grid
  /// @return its value
  /// @throws GraphError where accesses are audited, for a cell that the sweep has not declared
  T& operator[](const std::array<Index, dimensions>& cell) const {
    if constexpr (is_audited) {
      Key key{};
      for (std::size_t d = 0; d < dimensions; ++d)
        key[d] = cell[d];
      permission_.check(key);
    }
    Index place = cell[dimensions - 1];
    for (std::size_t d = 0; d + 1 < dimensions; ++d)
      place += cell[d] * strides_[d];
    return *reinterpret_cast<T*>(zero_ + static_cast<std::uintptr_t>(place) * sizeof(T));
  }

  /// @param indices one for each dimension of the whole grid
  /// @return the value of the cell
  /// @throws GraphError where accesses are audited, for a cell that the sweep has not declared
  template <class... Indices>
    requires IndicesOfACell<dimensions, Indices...>
  T& operator()(Indices... indices) const {
    return (*this)[{static_cast<Index>(indices)...}];
  }

#if defined(__cpp_multidimensional_subscript)
  /// operator() by the name that std::mdspan gives it.
  ///
  /// @param indices one for each dimension of the whole grid
  /// @return the value of the cell
  /// @throws GraphError where accesses are audited, for a cell that the sweep has not declared
  template <class... Indices>
    requires IndicesOfACell<dimensions, Indices...>
  T& operator[](Indices... indices) const {
    return (*this)(indices...);
  }
#endif

#if defined(__cpp_lib_mdspan)
  /// Its accesses are not audited.
  ///
  /// @return the block with its ghosts; the cell of the indices 0 is bounds().lo
  [[nodiscard]] Mdspan<T, dimensions> to_mdspan() const {
    Key strides{};
    for (std::size_t d = 0; d < dimensions; ++d)
      strides[d] = strides_[d];
    return detail::mdspan_of(data_, bounds(), strides);
  }
#endif

 private:
  struct Nothing {};

  T* data_;
  /// The address that the cell whose indices are 0 would have: a number, since it may lie outside
  /// of the field. A subtraction of the first ghost's place in every access would take a third
  /// longer in loops over a Box.
  std::uintptr_t zero_;
  std::array<Index, dimensions> strides_{};
  const AnyTiling* tiling_;
  [[no_unique_address]] std::conditional_t<is_audited, Permission, Nothing> permission_;
};

}  // namespace sorrel::graph
