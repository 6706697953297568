//! Sweep - a body for every tile of a grid and the fields it reads and writes; edges and messages
//! follow from these.
//!
//!   Tiling tiling({n, n, n}, {.ranks = {2, 2, 4}, .rank = rank});
//!   Field<double, 3> u(tiling, "u"), v(tiling, "v");
//!   sorrel::Graph g(over_mpi(MPI_COMM_WORLD));
//!   g.over(tiling, "jacobi").reads(u, star(1)).writes(v).body(
//!       [](const sorrel::Box<3>& cells, auto u, auto v) { ... });
//!   g.rotate(u, v);
//!   g.run({.steps = 100});
//!
//! The graph derives: dependencies of tiles on their neighbours of the step before, packing of
//! faces, messages with their tags, and unpacking of ghosts; print() shows all of them.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <sorrel/graph/field.hpp>
#include <sorrel/graph/graph.hpp>
#include <sorrel/graph/reduction.hpp>
#include <sorrel/graph/tiling.hpp>

namespace sorrel::graph {

/// Declaration of one field by a sweep.
struct Declaration {
  AnyField* field = nullptr;
  bool writes = false;
  Footprint footprint;
};

/// A typed declaration.
template <class T>
struct TypedDeclaration : Declaration {
  using Value = T;
};

/// A declaration without a field: the body leaves a value for a reduction.
template <class T>
struct ReducedDeclaration : Declaration {
  Reduction<T> reduction;
  /// The contribution of the family of tiles, once there is one.
  std::optional<Contribution<T>> part = {};
};

/// A body for every tile of a grid, with the fields that it reads and writes. Graph::over() makes
/// one; reads() and writes() return a sweep with one declaration more; body() adds it to the graph,
/// which derives the edges, the packing of faces, and the messages.
template <std::size_t dimensions, class... Declared>
class Sweep {
 public:
  /// Called by Graph::over().
  ///
  /// @param graph must outlive the sweep
  /// @param tiling must outlive the graph
  /// @param name for error messages and Graph::print()
  /// @param declared what reads(), writes() and reduces() have added
  Sweep(Graph& graph,
        const Tiling<dimensions>& tiling,
        std::string name,
        std::tuple<Declared...> declared)
      : graph_(graph), tiling_(tiling), name_(std::move(name)), declared_(std::move(declared)) {}

  /// The body reads the field in the cells of its tile, and around each cell within `footprint`.
  ///
  /// @param field must outlive the graph
  /// @param footprint star(radius) along the axes, box(radius) with diagonals
  /// @return a sweep with this declaration more
  template <class T>
  auto reads(Field<T, dimensions>& field, Footprint footprint = {}) const {
    return with(TypedDeclaration<const T>{{&field, false, footprint}});
  }

  /// The body writes the field in the cells of its tile. There it may also read what it has written
  /// and the previous contents.
  ///
  /// @param field must outlive the graph
  /// @return a sweep with this declaration more
  template <class T>
  auto writes(Field<T, dimensions>& field) const {
    return with(TypedDeclaration<T>{{&field, true, {}}});
  }

  /// The body contributes a value to a reduction, which it gets as `T&`: the neutral element at
  /// first.
  ///
  /// @param reduction of the same graph
  /// @return a sweep with this declaration more
  template <class T>
  auto reduces(const Reduction<T>& reduction) const {
    return with(ReducedDeclaration<T>{{}, reduction});
  }

  /// Sets the body, called as function(cells, view, ...) for each tile, with a Box of its cells and
  /// a View for each declaration, in their order.
  ///
  /// @param function copied into the graph
  /// @return the family of tiles, for further edges
  /// @throws GraphError if a footprint is wider than the ghosts of the tiling, or a field has
  /// another tiling
  template <class Function>
  Family body(Function function) const {
    constexpr bool is_body =
        std::invocable<Function&, const Box<dimensions>&,
                       decltype(argument_of(std::declval<const Declared&>(), std::string(), Task(),
                                            Box<dimension_count_max>()))...>;
    static_assert(
        is_body,
        "the body of a sweep takes the cells, a sorrel::Box of as many dimensions, then a "
        "View for each reads() and writes() and a value for each reduces(), in their "
        "order");
    Family family = graph_.family(name_, tiling_.tiles());
    std::vector<Declaration> fields;
    auto declared = declared_;
    std::apply([&](auto&... each) { (prepare(each, family, fields), ...); }, declared);
    if constexpr (is_body) {
      const AnyTiling* tiling = &tiling_;
      family.body([tiling, name = name_, declared = std::move(declared),
                   function = std::move(function)](const Task& task) mutable {
        const Box<dimension_count_max> cells = tiling->cells(task.key);
        std::apply(
            [&](const Declared&... each) {
              function(cells.template first<dimensions>(), argument_of(each, name, task, cells)...);
            },
            declared);
      });
    }
    graph_.declare(family, tiling_, std::move(fields));
    return family;
  }

 private:
  template <class Next>
  auto with(const Next& next) const {
    return Sweep<dimensions, Declared..., Next>(graph_, tiling_, name_,
                                                std::tuple_cat(declared_, std::tuple<Next>(next)));
  }

  static void prepare(const Declaration& declared,
                      const Family& /*tiles*/,
                      std::vector<Declaration>& fields) {
    fields.push_back(declared);
  }

  template <class T>
  static void prepare(ReducedDeclaration<T>& declared,
                      const Family& tiles,
                      std::vector<Declaration>& /*fields*/) {
    declared.part = declared.reduction.of(tiles);
  }

  template <class T>
  static View<T, dimensions> argument_of(const TypedDeclaration<T>& declared,
                                         const std::string& name,
                                         const Task& task,
                                         const Box<dimension_count_max>& cells) {
    const AnyField& field = *declared.field;
    return {field, task.step, Permission{&field, name.c_str(), task, cells, declared.footprint}};
  }

  template <class T>
  static T& argument_of(const ReducedDeclaration<T>& declared,
                        const std::string& /*name*/,
                        const Task& task,
                        const Box<dimension_count_max>& /*cells*/) {
    return (*declared.part)(task);
  }

  Graph& graph_;
  const Tiling<dimensions>& tiling_;
  std::string name_;
  std::tuple<Declared...> declared_;
};

template <std::size_t dimensions>
Sweep<dimensions> Graph::over(const Tiling<dimensions>& tiling, std::string name) {
  return {*this, tiling, std::move(name), {}};
}

}  // namespace sorrel::graph
