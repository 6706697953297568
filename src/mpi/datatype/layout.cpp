#include "mpi/datatype/layout.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace sorrel::mpi {

namespace {

/// Segment lists up to this length are spliced into a struct: sharing is better for longer ones.
constexpr std::size_t spliced_segments_max = 16;

}  // namespace

Layout* Layout::create(std::size_t data_bytes) {
  SORREL_ASSERT(data_bytes != 0, "no node is without bytes");
  auto* node = new Layout(data_bytes);
  node->references_ = 1;
  return node;
}

void Layout::destroy(const Layout* node) {
  LayoutRef::release(node->child);
  for (std::size_t i = 0; node->branches != nullptr && i < node->count; ++i)
    LayoutRef::release(node->branches[i].child);
  delete[] node->branches;
  delete[] node->segments;
  delete node;
}

Shape repeat(const Shape& shape, std::size_t count, std::int64_t stride) {
  if (!shape.layout || count == 0) return {};
  if (count == 1) return shape;
  const Layout& inner = *shape.layout.get();
  const auto is = [](std::int64_t step, std::int64_t times, std::int64_t total) {
    std::int64_t product = 0;
    return !__builtin_mul_overflow(step, times, &product) && product == total;
  };
  Layout* node = Layout::create(inner.bytes * count);
  Shape result{shape.offset, LayoutRef::adopt(node)};
  if (inner.kind == Layout::Kind::block && is(1, static_cast<std::int64_t>(inner.bytes), stride))
    return result;
  node->kind = Layout::Kind::loop;
  if (inner.kind == Layout::Kind::loop &&
      is(inner.stride, static_cast<std::int64_t>(inner.count), stride)) {
    node->count = inner.count * count;
    node->stride = inner.stride;
    node->child = inner.child;
  } else {
    node->count = count;
    node->stride = stride;
    node->child = &inner;
  }
  LayoutRef::retain(node->child);
  node->depth = node->child->depth + 1;
  return result;
}

void LayoutBuilder::add_block(std::int64_t displacement, std::size_t block_bytes) {
  SORREL_ASSERT(block_bytes != 0);
  if (!entries_.empty()) {
    Entry& last = entries_.back();
    if (!last.child &&
        last.displacement + static_cast<std::int64_t>(last.block_bytes) == displacement) {
      last.block_bytes += block_bytes;
      return;
    }
  }
  entries_.push_back({displacement, block_bytes, {}});
}

void LayoutBuilder::add(std::int64_t displacement, const Shape& shape) {
  if (!shape.layout) return;
  if (shape.layout->kind == Layout::Kind::block)
    add_block(displacement + shape.offset, shape.layout->bytes);
  else
    entries_.push_back({displacement + shape.offset, 0, shape.layout});
}

void LayoutBuilder::add_spliced(std::int64_t displacement, const Shape& shape) {
  const Layout* node = shape.layout.get();
  if (node == nullptr || node->kind != Layout::Kind::segments || node->count > spliced_segments_max)
    return add(displacement, shape);
  for (std::size_t i = 0; i < node->count; ++i)
    add_block(displacement + shape.offset + node->segments[i].displacement,
              node->segments[i + 1].packed - node->segments[i].packed);
}

/// Whether a loop describes the entries: all alike and the same distance apart.
bool LayoutBuilder::is_regular() const {
  const Entry& first = entries_[0];
  std::int64_t stride = 0;
  if (__builtin_sub_overflow(entries_[1].displacement, first.displacement, &stride)) return false;
  for (std::size_t i = 1; i < entries_.size(); ++i) {
    std::int64_t step = 0;
    if (__builtin_sub_overflow(entries_[i].displacement, entries_[i - 1].displacement, &step) ||
        step != stride || entries_[i].child.get() != first.child.get() ||
        entries_[i].block_bytes != first.block_bytes)
      return false;
  }
  return true;
}

Shape LayoutBuilder::make_segments() const {
  auto* list = new Segment[entries_.size() + 1];
  std::size_t packed = 0;
  bool uniform = true;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    list[i] = {entries_[i].displacement, packed};
    packed += entries_[i].block_bytes;
    uniform = uniform && entries_[i].block_bytes == entries_[0].block_bytes;
  }
  list[entries_.size()] = {0, packed};
  Layout* node = Layout::create(packed);
  node->kind = Layout::Kind::segments;
  node->count = entries_.size();
  node->segments = list;
  node->uniform_bytes = uniform ? entries_[0].block_bytes : 0;
  return {0, LayoutRef::adopt(node)};
}

Shape LayoutBuilder::make_branches() const {
  auto* list = new Branch[entries_.size()];
  std::size_t packed = 0;
  std::uint32_t depth = 0;
  LayoutRef block;  // The last block node made: neighbours of one length share it.
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    if (!entry.child && (!block || block->bytes != entry.block_bytes))
      block = LayoutRef::adopt(Layout::create(entry.block_bytes));
    const Layout* child = entry.child ? entry.child.get() : block.get();
    LayoutRef::retain(child);
    list[i] = {entry.displacement, packed, child};
    packed += child->bytes;
    depth = std::max(depth, child->depth);
  }
  Layout* node = Layout::create(packed);
  node->kind = Layout::Kind::branches;
  node->count = entries_.size();
  node->branches = list;
  node->depth = depth + 1;
  return {0, LayoutRef::adopt(node)};
}

Shape LayoutBuilder::finish() {
  if (entries_.empty()) return {};
  const Entry& first = entries_[0];
  const bool blocks_only = std::none_of(entries_.begin(), entries_.end(),
                                        [](const Entry& entry) { return bool(entry.child); });
  if (entries_.size() > 1 && !is_regular()) return blocks_only ? make_segments() : make_branches();
  Shape one{first.displacement, first.child};
  if (!first.child) one.layout = LayoutRef::adopt(Layout::create(first.block_bytes));
  if (entries_.size() == 1) return one;
  return repeat(one, entries_.size(), entries_[1].displacement - first.displacement);
}

}  // namespace sorrel::mpi
