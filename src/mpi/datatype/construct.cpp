#include "mpi/datatype/construct.hpp"

#include <algorithm>
#include <new>

namespace sorrel::mpi {

namespace {

/// Holds any sum of products of two 64-bit numbers that is made here.
using Wide = Int128;

/// Displacements and sizes stay below this, so that the difference of two of them fits an MPI_Aint.
constexpr Wide displacement_max = Wide{1} << 62;

bool fits(Wide value) {
  return -displacement_max <= value && value <= displacement_max;
}

Shape shape_of(const Datatype& type) {
  return {type.offset(), LayoutRef(type.layout())};
}

/// The positions, relative to the first, of `times` copies `stride` apart.
struct Span {
  Wide low = 0;
  Wide high = 0;

  static Span of(Wide times, Wide stride) {
    const Wide last = (times - 1) * stride;
    return {std::min<Wide>(0, last), std::max<Wide>(0, last)};
  }

  friend Span operator+(const Span& a, const Span& b) { return {a.low + b.low, a.high + b.high}; }
};

/// Accumulates all properties of a new datatype except its layout.
class Composer {
 public:
  /// Adds `times` > 0 copies of a type, which lie within the span. False: too much for 63 bits.
  [[nodiscard]] bool add(const Datatype& type, Wide times, const Span& span);

  void set_bounds(std::int64_t lb, std::int64_t extent) {
    parts_.bounds.lb = lb;
    parts_.bounds.ub = lb + extent;
    parts_.bounds.sticky = true;
  }

  /// Rounds the extent up to the alignment, as the standard allows for structs.
  void pad();

  [[nodiscard]] int finish(const Shape& shape, Datatype*& new_type);

 private:
  void add_bounds(const Bounds& old, std::int64_t low, std::int64_t high);
  void add_elements(const Datatype& type, std::size_t times);

  DatatypeParts parts_;
  SignatureBuilder signature_;
  bool has_bounds_ = false;
  bool has_data_ = false;
};

bool Composer::add(const Datatype& type, Wide times, const Span& span) {
  if (times > displacement_max || !fits(span.low) || !fits(span.high)) return false;
  const Bounds& old = type.bounds();
  const Wide size = Wide(parts_.size) + times * Wide(type.size());
  for (const Wide edge : {span.low + old.lb, span.high + old.ub, span.low + old.true_lb,
                          span.high + old.true_ub, size})
    if (!fits(edge)) return false;
  const auto low = static_cast<std::int64_t>(span.low);
  const auto high = static_cast<std::int64_t>(span.high);
  Bounds& bounds = parts_.bounds;
  // A type without data has bounds only if they were set explicitly.
  if (type.size() != 0 || old.sticky) add_bounds(old, low, high);
  if (type.size() == 0) return true;
  bounds.true_lb = has_data_ ? std::min(bounds.true_lb, low + old.true_lb) : low + old.true_lb;
  bounds.true_ub = has_data_ ? std::max(bounds.true_ub, high + old.true_ub) : high + old.true_ub;
  parts_.alignment = std::max(parts_.alignment, type.alignment());
  parts_.size = static_cast<std::size_t>(size);
  add_elements(type, static_cast<std::size_t>(times));
  has_data_ = true;
  return true;
}

/// Bounds set explicitly replace those that come from data, in either order.
void Composer::add_bounds(const Bounds& old, std::int64_t low, std::int64_t high) {
  Bounds& bounds = parts_.bounds;
  if (bounds.sticky && !old.sticky) return;
  const bool is_first = !has_bounds_ || (old.sticky && !bounds.sticky);
  bounds.lb = is_first ? low + old.lb : std::min(bounds.lb, low + old.lb);
  bounds.ub = is_first ? high + old.ub : std::max(bounds.ub, high + old.ub);
  bounds.sticky = bounds.sticky || old.sticky;
  has_bounds_ = true;
}

void Composer::add_elements(const Datatype& type, std::size_t times) {
  const bool first = !has_data_;
  if (first || parts_.element == type.element()) {
    parts_.element = type.element();
  } else {
    parts_.element = Element::mixed;
  }
  parts_.element_class = first || parts_.element_class == type.element_class()
                             ? type.element_class()
                             : ElementClass::mixed;
  parts_.element_count += times * type.element_count();
  if (type.element_size() != 0)
    signature_.add_elements(times * type.element_count(), type.element_size());
  else
    signature_.add(times, *type.signature());
}

void Composer::pad() {
  Bounds& bounds = parts_.bounds;
  if (bounds.sticky) return;
  const std::int64_t extent = bounds.ub - bounds.lb;
  const std::int64_t alignment = parts_.alignment;
  bounds.ub = bounds.lb + (extent + alignment - 1) / alignment * alignment;
}

int Composer::finish(const Shape& shape, Datatype*& new_type) {
  parts_.element_size = signature_.uniform_bytes();
  parts_.signature = signature_.finish();
  parts_.shape = shape;
  const Signature* signature = parts_.signature.get();
  if ((shape.layout && shape.layout->depth > layout_depth_max) ||
      (signature != nullptr && signature->depth() > layout_depth_max))
    return MPI_ERR_TYPE;
  new_type = Datatype::create(std::move(parts_));
  return MPI_SUCCESS;
}

/// Runs a constructor; if out of memory it has created nothing.
template <class Make>
int unless_out_of_memory(Make make) {
  try {
    return make();
  } catch (const std::bad_alloc&) {
    return MPI_ERR_NO_MEM;
  }
}

int make_strided(const VectorShape& shape,
                 Wide stride,
                 const Datatype& old_type,
                 Datatype*& new_type) {
  if (shape.count < 0) return MPI_ERR_COUNT;
  if (shape.block_length < 0) return MPI_ERR_ARG;
  Composer composer;
  const Wide times = Wide{shape.count} * shape.block_length;
  if (times == 0) return composer.finish({}, new_type);
  if (!fits(stride)) return MPI_ERR_COUNT;
  const Span span = Span::of(shape.count, stride) + Span::of(shape.block_length, old_type.extent());
  if (!composer.add(old_type, times, span)) return MPI_ERR_COUNT;
  const Shape block =
      repeat(shape_of(old_type), static_cast<std::size_t>(shape.block_length), old_type.extent());
  return composer.finish(
      repeat(block, static_cast<std::size_t>(shape.count), static_cast<std::int64_t>(stride)),
      new_type);
}

/// Blocks of one type at displacements of their own, in multiples of `unit`.
template <class Lengths>
int make_list(std::int64_t count,
              Lengths length_of,
              Integers displacements,
              std::int64_t unit,
              const Datatype& old_type,
              Datatype*& new_type) {
  if (count < 0) return MPI_ERR_COUNT;
  Composer composer;
  LayoutBuilder builder;
  Shape block;
  std::int64_t block_length = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const std::int64_t length = length_of(i);
    if (length < 0) return MPI_ERR_ARG;
    if (length == 0) continue;
    const Wide place = Wide{displacements[i]} * unit;
    const Span span = Span{place, place} + Span::of(length, old_type.extent());
    if (!composer.add(old_type, length, span)) return MPI_ERR_ARG;
    if (length != block_length)
      block = repeat(shape_of(old_type), static_cast<std::size_t>(length), old_type.extent());
    block_length = length;
    builder.add(static_cast<std::int64_t>(place), block);
  }
  return composer.finish(builder.finish(), new_type);
}

/// One dimension of a subarray; the fastest is the first.
struct Dimension {
  std::int64_t subsize;
  std::int64_t stride;
  std::int64_t displacement;
};

}  // namespace

int make_contiguous(std::int64_t count, const Datatype& old_type, Datatype*& new_type) {
  if (count < 0) return MPI_ERR_COUNT;
  return unless_out_of_memory([&] { return make_strided({1, count, 0}, 0, old_type, new_type); });
}

int make_vector(const VectorShape& shape, const Datatype& old_type, Datatype*& new_type) {
  return unless_out_of_memory([&] {
    return make_strided(shape, Wide{shape.stride} * old_type.extent(), old_type, new_type);
  });
}

int make_hvector(const VectorShape& shape, const Datatype& old_type, Datatype*& new_type) {
  return unless_out_of_memory(
      [&] { return make_strided(shape, shape.stride, old_type, new_type); });
}

int make_indexed(std::int64_t count,
                 Integers block_lengths,
                 Integers displacements,
                 const Datatype& old_type,
                 Datatype*& new_type) {
  return unless_out_of_memory([&] {
    return make_list(
        count, [&](std::size_t i) { return block_lengths[i]; }, displacements, old_type.extent(),
        old_type, new_type);
  });
}

int make_hindexed(std::int64_t count,
                  Integers block_lengths,
                  Integers displacements,
                  const Datatype& old_type,
                  Datatype*& new_type) {
  return unless_out_of_memory([&] {
    return make_list(
        count, [&](std::size_t i) { return block_lengths[i]; }, displacements, 1, old_type,
        new_type);
  });
}

int make_indexed_block(std::int64_t count,
                       std::int64_t block_length,
                       Integers displacements,
                       const Datatype& old_type,
                       Datatype*& new_type) {
  if (count >= 0 && block_length < 0) return MPI_ERR_ARG;
  return unless_out_of_memory([&] {
    return make_list(
        count, [&](std::size_t) { return block_length; }, displacements, old_type.extent(),
        old_type, new_type);
  });
}

int make_hindexed_block(std::int64_t count,
                        std::int64_t block_length,
                        Integers displacements,
                        const Datatype& old_type,
                        Datatype*& new_type) {
  if (count >= 0 && block_length < 0) return MPI_ERR_ARG;
  return unless_out_of_memory([&] {
    return make_list(
        count, [&](std::size_t) { return block_length; }, displacements, 1, old_type, new_type);
  });
}

int make_struct(std::int64_t count,
                Integers block_lengths,
                Integers displacements,
                const MPI_Datatype* old_types,
                Datatype*& new_type) {
  if (count < 0) return MPI_ERR_COUNT;
  return unless_out_of_memory([&]() -> int {
    Composer composer;
    LayoutBuilder builder;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      const Datatype* type = datatype_from_handle(old_types[i]);
      if (type == nullptr) return MPI_ERR_TYPE;
      const std::int64_t length = block_lengths[i];
      if (length < 0) return MPI_ERR_ARG;
      if (length == 0) continue;
      const std::int64_t place = displacements[i];
      if (!composer.add(*type, length, Span{place, place} + Span::of(length, type->extent())))
        return MPI_ERR_ARG;
      builder.add_spliced(
          place, repeat(shape_of(*type), static_cast<std::size_t>(length), type->extent()));
    }
    composer.pad();
    return composer.finish(builder.finish(), new_type);
  });
}

int make_subarray(const SubarrayShape& shape, const Datatype& old_type, Datatype*& new_type) {
  if (shape.dimensions < 1) return MPI_ERR_ARG;
  return unless_out_of_memory([&]() -> int {
    const auto dimensions = static_cast<std::size_t>(shape.dimensions);
    std::vector<Dimension> fastest_first;
    Wide stride = old_type.extent();
    Wide times = 1;
    Span span;
    for (std::size_t i = 0; i < dimensions; ++i) {
      const std::size_t index = shape.order == ArrayOrder::c ? dimensions - 1 - i : i;
      const std::int64_t size = shape.sizes[index];
      const std::int64_t subsize = shape.subsizes[index];
      const std::int64_t start = shape.starts[index];
      if (size < 1 || subsize < 1 || subsize > size || start < 0 || start > size - subsize)
        return MPI_ERR_ARG;
      const Wide place = start * stride;
      if (!fits(stride * size)) return MPI_ERR_ARG;
      span = span + Span{place, place} + Span::of(subsize, stride);
      fastest_first.push_back(
          {subsize, static_cast<std::int64_t>(stride), static_cast<std::int64_t>(place)});
      times *= subsize;
      stride *= size;
      if (!fits(times)) return MPI_ERR_ARG;
    }
    Composer composer;
    if (!composer.add(old_type, times, span)) return MPI_ERR_ARG;
    composer.set_bounds(0, static_cast<std::int64_t>(stride));
    Shape block = shape_of(old_type);
    for (const Dimension& dimension : fastest_first) {
      block = repeat(block, static_cast<std::size_t>(dimension.subsize), dimension.stride);
      block.offset += dimension.displacement;
    }
    return composer.finish(block, new_type);
  });
}

int make_resized(std::int64_t lb,
                 std::int64_t extent,
                 const Datatype& old_type,
                 Datatype*& new_type) {
  if (!fits(lb) || !fits(extent) || !fits(Wide{lb} + extent)) return MPI_ERR_ARG;
  return unless_out_of_memory([&]() -> int {
    Composer composer;
    if (!composer.add(old_type, 1, {})) return MPI_ERR_ARG;
    composer.set_bounds(lb, extent);
    return composer.finish(shape_of(old_type), new_type);
  });
}

int make_dup(const Datatype& old_type, Datatype*& new_type) {
  return unless_out_of_memory([&] {
    new_type = Datatype::create({.shape = shape_of(old_type),
                                 .bounds = old_type.bounds(),
                                 .size = old_type.size(),
                                 .element = old_type.element(),
                                 .element_class = old_type.element_class(),
                                 .single = old_type.is_single_element(),
                                 .alignment = old_type.alignment(),
                                 .element_size = old_type.element_size(),
                                 .element_count = old_type.element_count(),
                                 .signature = SignatureRef(old_type.signature())});
    if (old_type.is_committed()) new_type->commit();
    return MPI_SUCCESS;
  });
}

}  // namespace sorrel::mpi
