//! Calls of MPI with buffers in the memory of a device: the call is made again with memory of the
//! host in their places.
//!
//! What the function reads is copied from the device before the call. What it writes is copied to
//! the device when it is complete: after the call, or in the call that completes its request. The
//! block of a message goes through memory of its packed size; a collective or a file, whose
//! functions need the datatypes, gets a mirror of the range that the buffer spans.
//! make_bindings.py describes each function. A function that has no such form fails with
//! MPI_ERR_BUFFER. README.md has more.
//!
//! The rank's fiber, or a thread of the rank in a call. May suspend.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mpi.h>
#include <optional>
#include <type_traits>
#include <utility>

#include "device/buffers.hpp"
#include "mpi/match/rank_state.hpp"

namespace sorrel::abi {

/// What follows a buffer among the arguments.
enum class DeviceForm : std::uint8_t {
  typed,           ///< count, datatype
  blocks,          ///< counts, displacements in extents, datatype
  blocks_types,    ///< counts, displacements in bytes, datatypes
  operand_blocks,  ///< of a reduction: counts, datatype; the buffer holds all blocks
  own_block,       ///< the same; the buffer holds the block of the caller
  element,         ///< one element of the datatype that is behind argument `count`
  partitions,      ///< number of partitions, count of each, datatype
  packed,          ///< size in bytes, position from which on it is used
  unsupported,
};

/// In which members a buffer is significant, and how many times `count` it holds there.
enum class DeviceShare : std::uint8_t {
  one,
  each,        ///< one for each rank that the communicator sends to
  local_each,  ///< one for each rank of the caller's group
  one_at_root,
  each_at_root,
  one_at_leaf,   ///< all that receive from the root or send to it: within a group, the root, too
  root_to_leaf,  ///< the root reads it, all others write it
  in_neighbors,
  out_neighbors,
};

enum class DeviceDirection : std::uint8_t { in, out, inout };

/// `buffer` and `count` are numbers of arguments.
struct DeviceBuffer {
  DeviceForm form;
  DeviceShare share;
  DeviceDirection direction;
  std::int8_t buffer;
  std::int8_t count;
};

/// What a function does with requests.
enum class DeviceRequests : std::uint8_t {
  none,
  made,        ///< returns one
  persistent,  ///< returns one that is started later
  started,
  completed,
  queried,  ///< says that one is complete, and leaves it
  freed,
  readied,  ///< partitions of one become ready
  arrived,  ///< asks whether a partition of one has come
};

/// One function of MPI. The std::int8_t are numbers of arguments; -1: there is none.
struct DeviceFunction {
  const char* name;
  DeviceRequests requests;
  /// Counts and displacements of arrays are MPI_Count and MPI_Aint.
  bool is_large;
  /// Displacements of blocks_types, and positions, are MPI_Aint in both forms.
  bool has_address_displacements;
  /// A message: its block may be passed as bytes.
  bool is_message;
  /// The status says how many bytes were received.
  bool is_sized;
  /// Within one group, all of what it receives is written.
  bool is_filling;
  bool has_request_variable;
  std::int8_t comm;
  /// Whose error handler gets an error. Functions with one of them have no communicator. One with a
  /// window and a buffer is a one-sided operation.
  std::int8_t win;
  std::int8_t file;
  std::int8_t root;
  std::int8_t request;
  std::int8_t request_count;
  std::int8_t status;
  std::int8_t flag;
  std::int8_t indices;
  std::int8_t index_count;
  /// The first partition, or the list of some; the last one; the length of the list.
  std::int8_t partition;
  std::int8_t partition_high;
  std::int8_t partition_count;
  std::int8_t buffer_count;
  DeviceBuffer buffers[3];
};

/// Calls a function with these words as its arguments.
using CallWithWords = int (*)(const std::intptr_t* words);

/// An argument as a word, and back.
template <class T>
[[nodiscard]] std::intptr_t to_word(T argument) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<std::intptr_t>(argument);
  } else {
    return static_cast<std::intptr_t>(argument);
  }
}

template <class T>
[[nodiscard]] T from_word(std::intptr_t word) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<T>(word);
  } else {
    return static_cast<T>(word);
  }
}

template <class... Parameters, std::size_t... I>
int call_with_words(int (*function)(Parameters...),
                    const std::intptr_t* words,
                    std::index_sequence<I...>) {
  return function(from_word<Parameters>(words[I])...);
}

/// The result of the call, if it concerns memory of a device. `words` are changed.
[[nodiscard]] std::optional<int> call_on_device(mpi::RankState& self,
                                                const DeviceFunction& function,
                                                std::intptr_t* words,
                                                CallWithWords call);

/// The rank makes no further call: forgets its requests.
[[gnu::cold]] void end_device_calls(const mpi::RankState& self);

/// As call_on_device(), for the binding `function`. Never inlined: the binding keeps its registers.
template <auto function, class... Arguments>
[[nodiscard, gnu::cold, gnu::noinline]] std::optional<int> call_binding_on_device(
    mpi::RankState& self, const DeviceFunction& description, Arguments... arguments) {
  std::intptr_t words[] = {to_word(arguments)...};
  return call_on_device(self, description, words, [](const std::intptr_t* given) {
    return call_with_words(function, given, std::index_sequence_for<Arguments...>{});
  });
}

}  // namespace sorrel::abi

/// What the frame of a binding does for a rank with memory on a device: the call with memory of
/// the host in the place of buffers there.
#define SORREL_ON_DEVICE(name, ...)                                                     \
  [&](::sorrel::mpi::RankState& on_device) {                                            \
    return ::sorrel::abi::call_binding_on_device<PMPI_##name>(on_device, device_##name, \
                                                              __VA_ARGS__);             \
  }
