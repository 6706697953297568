//! Representation - how data is stored in a file: native, internal (the same here), external32, or
//! with conversion functions of the program (MPI 5.0, 14.5).
//!
//! Predefined ones are constants. A program's belong to the rank that registered them, and are kept
//! for the rest of its life, as the standard demands.
#pragma once

#include <cstddef>
#include <memory>
#include <mpi.h>
#include <string>
#include <string_view>
#include <vector>

#include "mpi/base/error_detail.hpp"
#include "mpi/collectives/block_list.hpp"
#include "mpi/datatype/datatype.hpp"

namespace sorrel::mpi {

/// Bytes of data in the file.
struct FileSizes {
  std::size_t etype_bytes;
  std::size_t filetype_bytes;
};

/// The functions of MPI_Register_datarep, or of MPI_Register_datarep_c. A null conversion: the data
/// of the file is native.
struct DatarepFunctions {
  MPI_Datarep_conversion_function* read = nullptr;
  MPI_Datarep_conversion_function* write = nullptr;
  MPI_Datarep_conversion_function_c* large_read = nullptr;
  MPI_Datarep_conversion_function_c* large_write = nullptr;
  MPI_Datarep_extent_function* extent = nullptr;
  void* extra_state = nullptr;
};

class Representation {
 public:
  enum class Kind : std::uint8_t { native, internal, external32, user };

  /// The name stays, and is followed by a zero.
  constexpr Representation(Kind kind, std::string_view name) : kind_(kind), name_(name) {}

  Representation(std::string_view name, const DatarepFunctions& functions)
      : kind_(Kind::user), name_(name), functions_(functions) {}

  static const Representation& native();

  [[nodiscard]] Kind kind() const { return kind_; }

  /// Followed by a zero.
  [[nodiscard]] std::string_view name() const { return name_; }

  /// Whether data in the file has the bytes that it has in memory.
  [[nodiscard]] bool is_plain() const { return kind_ == Kind::native || kind_ == Kind::internal; }

  /// MPI_ERR_UNSUPPORTED_DATAREP: elements have other sizes in the file, and the file type has
  /// gaps. Else an error of the program's function.
  [[nodiscard]] int sizes_of(Datatype& etype,
                             Datatype& filetype,
                             FileSizes* sizes,
                             ErrorDetail& detail) const;

  /// The extent of a type in the file; errors as sizes_of().
  [[nodiscard]] int extent_of(Datatype& type, MPI_Aint* extent, ErrorDetail& detail) const;

  /// Bytes of a buffer's data in a file with this etype, which has etype_bytes there.
  /// MPI_ERR_TYPE: a buffer of another type than the program's functions can convert.
  [[nodiscard]] int file_bytes_of(const TypedBuffer& buffer,
                                  const Datatype& etype,
                                  std::size_t etype_bytes,
                                  std::size_t* bytes,
                                  ErrorDetail& detail) const;

  /// Converts the buffer to file_bytes_of() bytes. MPI_ERR_CONVERSION, or the function's error.
  [[nodiscard]] int to_file(const TypedBuffer& buffer,
                            Datatype& etype,
                            std::size_t etype_bytes,
                            std::byte* out) const;

  /// Converts the first `file_bytes` of the file_bytes_of() bytes at `in`, of which the others are
  /// zero; *memory_bytes is how many bytes of the buffer have been set.
  [[nodiscard]] int from_file(const std::byte* in,
                              std::size_t file_bytes,
                              const TypedBuffer& buffer,
                              Datatype& etype,
                              std::size_t etype_bytes,
                              std::size_t* memory_bytes) const;

 private:
  struct FileElements {
    std::size_t count;
    std::size_t bytes_each;
  };

  [[nodiscard]] int convert(bool to_file,
                            const std::byte* packed,
                            Datatype& etype,
                            const FileElements& elements,
                            std::byte* file) const;

  const Kind kind_;
  const std::string_view name_;
  const DatarepFunctions functions_;
};

/// The representations that a rank can use. Created at first use.
class Representations {
 public:
  /// Null if the rank knows none of this name.
  [[nodiscard]] const Representation* find(std::string_view name) const;

  /// MPI_ERR_DUP_DATAREP.
  [[nodiscard]] int add(std::string_view name,
                        const DatarepFunctions& functions,
                        ErrorDetail& detail);

  /// The program has added none.
  [[nodiscard]] bool are_predefined() const { return added_.empty(); }

 private:
  struct Added {
    explicit Added(std::string_view text, const DatarepFunctions& functions)
        : name(text), representation(name, functions) {}

    const std::string name;
    const Representation representation;
  };

  std::vector<std::unique_ptr<const Added>> added_;
};

}  // namespace sorrel::mpi
