#include "mpi/datatype/signature.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace sorrel::mpi {

std::optional<std::size_t> Signature::elements_in(std::size_t bytes) const {
  SORREL_ASSERT(bytes <= bytes_);
  std::size_t elements = 0;
  for (std::size_t i = 0; i < part_count_; ++i) {
    const SignaturePart& part = parts_[i];
    const std::size_t whole = std::min(bytes / part.bytes, part.count);
    elements += whole * part.elements;
    bytes -= whole * part.bytes;
    if (whole == part.count) continue;
    if (bytes == 0) return elements;
    if (part.child == nullptr) return std::nullopt;
    const auto inside = part.child->elements_in(bytes);
    if (!inside) return std::nullopt;
    return elements + *inside;
  }
  return elements;
}

std::size_t Signature::bytes_of(std::size_t elements) const {
  SORREL_ASSERT(elements <= elements_);
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < part_count_; ++i) {
    const SignaturePart& part = parts_[i];
    const std::size_t whole = std::min(elements / part.elements, part.count);
    bytes += whole * part.bytes;
    elements -= whole * part.elements;
    if (whole == part.count) continue;
    return part.child == nullptr ? bytes : bytes + part.child->bytes_of(elements);
  }
  return bytes;
}

void Signature::destroy(const Signature* signature) {
  for (std::size_t i = 0; i < signature->part_count_; ++i)
    SignatureRef::release(signature->parts_[i].child);
  delete[] signature->parts_;
  delete signature;
}

void SignatureBuilder::add_elements(std::size_t count, std::size_t bytes_each) {
  if (count == 0 || bytes_each == 0) return;
  if (!parts_.empty() && parts_.back().child == nullptr && parts_.back().bytes == bytes_each)
    parts_.back().count += count;
  else
    parts_.push_back({count, bytes_each, 1, nullptr});
}

void SignatureBuilder::add(std::size_t count, const Signature& child) {
  if (count == 0) return;
  // A repetition of a repetition is one.
  if (child.part_count_ == 1) return add(count * child.parts_[0].count, *child.parts_[0].child);
  if (!parts_.empty() && parts_.back().child == &child) {
    parts_.back().count += count;
    return;
  }
  SignatureRef::retain(&child);
  parts_.push_back({count, child.bytes(), child.elements(), &child});
}

std::size_t SignatureBuilder::uniform_bytes() const {
  return parts_.size() == 1 && parts_[0].child == nullptr ? parts_[0].bytes : 0;
}

SignatureRef SignatureBuilder::finish() {
  if (parts_.empty() || uniform_bytes() != 0) return {};
  if (parts_.size() == 1 && parts_[0].count == 1) return SignatureRef(parts_[0].child);
  auto* list = new SignaturePart[parts_.size()];
  std::copy(parts_.begin(), parts_.end(), list);
  auto* signature = new Signature(list, parts_.size());
  for (const SignaturePart& part : parts_)
    if (part.child != nullptr)
      signature->depth_ = std::max(signature->depth_, part.child->depth() + 1);
  // The children's references moved into the node.
  parts_.clear();
  signature->references_ = 1;
  SignatureRef result(signature);
  SignatureRef::release(signature);
  return result;
}

SignatureBuilder::~SignatureBuilder() {
  for (const SignaturePart& part : parts_)
    SignatureRef::release(part.child);
}

}  // namespace sorrel::mpi
