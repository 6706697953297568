#include "mpi/datatype/transfer_form.hpp"

#include <cstring>
#include <unordered_map>

namespace sorrel::mpi {

namespace {

struct FormHead {
  /// The constant of a predefined datatype, of which the form has no more; else 0.
  std::uint64_t predefined = 0;
  std::uint64_t size = 0;
  std::int64_t lb = 0;
  std::int64_t ub = 0;
  std::int64_t true_lb = 0;
  std::int64_t true_ub = 0;
  std::int64_t offset = 0;
  std::uint64_t element_size = 0;
  std::uint64_t element_count = 0;
  std::uint32_t node_count = 0;
  Element element = Element::none;
  ElementClass element_class = ElementClass::none;
  std::uint16_t unused = 0;
};

struct NodeHead {
  Layout::Kind kind;
  std::uint64_t bytes;
  std::uint64_t count;
  std::int64_t stride;
  std::uint64_t child;  ///< the number of a node before this one
};

/// `value`: of a segment, its length; of a branch, the number of the child.
struct NodePart {
  std::int64_t displacement;
  std::uint64_t value;
};

template <class T>
void append(std::vector<std::byte>& out, const T& value) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&value);
  out.insert(out.end(), bytes, bytes + sizeof value);
}

/// Writes the nodes of a layout, each after its children.
class NodeWriter {
 public:
  explicit NodeWriter(std::vector<std::byte>& out) : out_(out) {}

  /// Returns the number of the node.
  std::uint32_t write(const Layout& node) {
    if (const auto found = numbers_.find(&node); found != numbers_.end()) return found->second;
    NodeHead head{};
    head.kind = node.kind;
    head.bytes = node.bytes;
    head.count = node.count;
    head.stride = node.stride;
    if (node.child != nullptr) head.child = write(*node.child);
    if (node.kind == Layout::Kind::branches) {
      for (std::size_t i = 0; i < node.count; ++i)
        (void)write(*node.branches[i].child);
    }
    append(out_, head);
    for (std::size_t i = 0; i < node.count; ++i) {
      if (node.kind == Layout::Kind::segments) {
        append(out_, NodePart{.displacement = node.segments[i].displacement,
                              .value = node.segments[i + 1].packed - node.segments[i].packed});
      } else if (node.kind == Layout::Kind::branches) {
        append(out_, NodePart{.displacement = node.branches[i].displacement,
                              .value = numbers_.at(node.branches[i].child)});
      } else {
        break;
      }
    }
    const auto number = static_cast<std::uint32_t>(numbers_.size());
    numbers_.emplace(&node, number);
    return number;
  }

  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(numbers_.size()); }

 private:
  std::vector<std::byte>& out_;
  std::unordered_map<const Layout*, std::uint32_t> numbers_;
};

/// Reads values one after the other.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> form) : form_(form) {}

  template <class T>
  T take() {
    SORREL_CHECK(form_.size() >= sizeof(T), "the form of a datatype is incomplete");
    T value;
    std::memcpy(&value, form_.data(), sizeof value);
    form_ = form_.subspan(sizeof value);
    return value;
  }

 private:
  std::span<const std::byte> form_;
};

Shape block_of(std::size_t bytes) {
  const Datatype& byte = *datatype_from_handle(MPI_BYTE);
  return repeat({byte.offset(), LayoutRef(byte.layout())}, bytes, 1);
}

Shape read_node(Reader& reader, const std::vector<Shape>& nodes) {
  const auto head = reader.take<NodeHead>();
  if (head.kind == Layout::Kind::block) return block_of(head.bytes);
  if (head.kind == Layout::Kind::loop) return repeat(nodes[head.child], head.count, head.stride);
  LayoutBuilder builder;
  for (std::uint64_t i = 0; i < head.count; ++i) {
    const auto part = reader.take<NodePart>();
    const bool is_block = head.kind == Layout::Kind::segments;
    builder.add(part.displacement, is_block ? block_of(part.value) : nodes[part.value]);
  }
  return builder.finish();
}

}  // namespace

void append_transfer_form(const Datatype& type, std::vector<std::byte>& out) {
  const std::size_t begin = out.size();
  FormHead head;
  if (type.is_predefined()) {
    head.predefined = reinterpret_cast<std::uintptr_t>(handle_of(type));
    append(out, head.predefined);
    return;
  }
  const Bounds bounds = type.bounds();
  head.size = type.size();
  head.lb = bounds.lb;
  head.ub = bounds.ub;
  head.true_lb = bounds.true_lb;
  head.true_ub = bounds.true_ub;
  head.offset = type.offset();
  head.element_size = type.element_size();
  head.element_count = type.element_count();
  head.element = type.element();
  head.element_class = type.element_class();
  append(out, head);
  if (type.layout() == nullptr) return;
  NodeWriter writer(out);
  (void)writer.write(*type.layout());
  head.node_count = writer.count();
  std::memcpy(out.data() + begin, &head, sizeof head);
}

Datatype* from_transfer_form(std::span<const std::byte> form) {
  Reader reader(form);
  if (const auto predefined = Reader(form).take<std::uint64_t>(); predefined != 0) {
    Datatype* type = datatype_from_handle(reinterpret_cast<MPI_Datatype>(predefined));
    SORREL_CHECK(type != nullptr, "the form of a datatype names no predefined one");
    return type;
  }
  const auto head = reader.take<FormHead>();
  std::vector<Shape> nodes;
  for (std::uint32_t i = 0; i < head.node_count; ++i)
    nodes.push_back(read_node(reader, nodes));
  DatatypeParts parts;
  if (!nodes.empty()) {
    parts.shape = nodes.back();
    parts.shape.offset += head.offset;
  }
  parts.bounds = {.lb = head.lb,
                  .ub = head.ub,
                  .true_lb = head.true_lb,
                  .true_ub = head.true_ub,
                  .sticky = true};
  parts.size = head.size;
  parts.element = head.element;
  parts.element_class = head.element_class;
  parts.element_size = head.element_size;
  parts.element_count = head.element_count;
  Datatype* type = Datatype::create(std::move(parts));
  type->commit();
  return type;
}

}  // namespace sorrel::mpi
