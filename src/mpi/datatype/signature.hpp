//! Signature - the sizes of a datatype's basic elements in order, for MPI_Get_elements;
//! displacements do not matter here.
//!
//! Exists only for datatypes whose basic elements differ in size; for all others a division
//! suffices. Immutable, shared and counted like Layout (0 references: a constant). Any thread may
//! read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace sorrel::mpi {

class Signature;

/// `count` times a basic element of `bytes` bytes, or, with a child, the child.
struct SignaturePart {
  std::size_t count;
  std::size_t bytes;
  std::size_t elements;
  const Signature* child;
};

class Signature {
 public:
  /// A constant of two basic elements.
  constexpr Signature(const SignaturePart* parts, std::size_t part_count)
      : parts_(parts), part_count_(part_count) {
    for (std::size_t i = 0; i < part_count; ++i) {
      bytes_ += parts[i].count * parts[i].bytes;
      elements_ += parts[i].count * parts[i].elements;
    }
  }

  Signature(const Signature&) = delete;
  Signature& operator=(const Signature&) = delete;

  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  [[nodiscard]] std::size_t elements() const { return elements_; }

  [[nodiscard]] std::uint32_t depth() const { return depth_; }

  /// How many basic elements the first `bytes` bytes hold; nothing if they end inside one.
  [[nodiscard]] std::optional<std::size_t> elements_in(std::size_t bytes) const;
  /// How many bytes the first `elements` elements take.
  [[nodiscard]] std::size_t bytes_of(std::size_t elements) const;

 private:
  friend class SignatureRef;
  friend class SignatureBuilder;
  static void destroy(const Signature* signature);

  const SignaturePart* parts_;
  std::size_t part_count_;
  std::size_t bytes_ = 0;
  std::size_t elements_ = 0;
  std::uint32_t depth_ = 1;
  // The owner's rank only. 0 means a constant.
  mutable std::uint32_t references_ = 0;
};

class SignatureRef {
 public:
  SignatureRef() = default;

  explicit SignatureRef(const Signature* signature) : signature_(signature) { retain(signature_); }

  SignatureRef(const SignatureRef& other) : SignatureRef(other.signature_) {}

  SignatureRef(SignatureRef&& other) noexcept
      : signature_(std::exchange(other.signature_, nullptr)) {}

  SignatureRef& operator=(SignatureRef other) noexcept {
    std::swap(signature_, other.signature_);
    return *this;
  }

  ~SignatureRef() { release(signature_); }

  [[nodiscard]] const Signature* get() const { return signature_; }

  static void retain(const Signature* signature) {
    if (signature != nullptr && signature->references_ != 0) ++signature->references_;
  }

  static void release(const Signature* signature) {
    if (signature != nullptr && signature->references_ != 0 && --signature->references_ == 0)
      Signature::destroy(signature);
  }

 private:
  const Signature* signature_ = nullptr;
};

/// Collects parts in order; equal neighbours become one.
class SignatureBuilder {
 public:
  void add_elements(std::size_t count, std::size_t bytes_each);
  void add(std::size_t count, const Signature& child);
  /// If empty, or with elements of one size only: an empty reference.
  [[nodiscard]] SignatureRef finish();
  /// The size of every element added, or 0 if they differ or there are none.
  [[nodiscard]] std::size_t uniform_bytes() const;
  ~SignatureBuilder();

 private:
  std::vector<SignaturePart> parts_;
};

}  // namespace sorrel::mpi
