#include "program/gpu/process_buffers.hpp"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "device/buffers.hpp"
#include "program/base/driver_code.hpp"
#include "program/gpu/driver_api.hpp"
#include "program/gpu/pinned_memory.hpp"
#include "program/gpu/rank_gpu.hpp"
#include "program/gpu/row_copies.hpp"
#include "program/gpu/substitutes.hpp"
#include "program/image/driver_libraries.hpp"

namespace sorrel::program::gpu {

namespace {

// Attributes of pointers.
constexpr int context_attribute = 1;
constexpr int memory_type_attribute = 2;
constexpr int is_managed_attribute = 8;
constexpr unsigned memory_of_device = 2;

/// Both for the rank's own buffers and for its windows: any thread of the process.
class ProcessBuffers final : public device::Buffers, public device::OwnedMemory {
 public:
  bool overlaps(std::uintptr_t begin, std::uintptr_t end) override {
    return begin < end && is_ready() && (is_on_device(begin) || is_on_device(end - 1));
  }

  /// Allocations that are next to each other hold a buffer together.
  bool holds(std::uintptr_t begin, std::uintptr_t end) override {
    if (!is_ready()) return false;
    while (begin < end) {
      DevicePointer first = 0;
      std::size_t bytes = 0;
      if (!is_on_device(begin) ||
          driver().cuMemGetAddressRange_v2(&first, &bytes, begin) != success ||
          first + bytes <= begin)
        return false;
      begin = first + bytes;
    }
    return true;
  }

  std::byte* take_host(std::size_t bytes, std::uintptr_t near) override {
    if (bytes > PinnedMemory::piece_bytes_max) return static_cast<std::byte*>(std::malloc(bytes));
    return pinned_.take(bytes, context_of(near));
  }

  void give_host(std::byte* memory, std::size_t bytes) override {
    if (bytes > PinnedMemory::piece_bytes_max) {
      std::free(memory);
    } else {
      pinned_.give(memory);
    }
  }

  bool copy(const device::Rows& rows,
            device::Direction direction,
            device::CopyStreams& used) override {
    ThreadContext thread;
    thread.use(context_of(rows.device));
    Context context = ThreadContext::current();
    return begin_copy(rows, direction, {.stream = stream_of(context), .context = context}, used);
  }

  bool update(std::span<const device::Rows> rows,
              device::HostStep& step,
              bool is_written,
              device::CopyStreams& used) override {
    if (rows.empty()) return false;
    const std::scoped_lock lock(updates_);
    ThreadContext thread;
    thread.use(context_of(rows.front().device));
    Context context = ThreadContext::current();
    return begin_update(rows, step, is_written, {.stream = stream_of(context), .context = context},
                        used);
  }

  bool finish(const device::CopyStreams& used) override {
    bool is_good = true;
    for (const device::CopyStream& copies : used) {
      ThreadContext thread;
      thread.use(copies.context);
      is_good = driver().cuStreamSynchronize(copies.stream) == success && is_good;
    }
    return is_good;
  }

  bool finish(const device::CopyStreams& used, device::Waiting /*waiting*/) override {
    return finish(used);
  }

  device::OwnedMemory* owned() override { return this; }

 private:
  struct OwnStream {
    Context context;
    Stream stream;
  };

  /// Whether the driver's library is there.
  static bool is_ready() {
    if (has_driver()) return true;
    record_driver_libraries();
    find_loaded_driver();
    return has_driver();
  }

  /// Also false before the program has begun to use the driver.
  static bool is_on_device(std::uintptr_t address) {
    unsigned type = 0;
    unsigned is_managed = 0;
    return driver().cuPointerGetAttribute != nullptr &&
           driver().cuPointerGetAttribute(&type, memory_type_attribute, address) == success &&
           type == memory_of_device &&
           driver().cuPointerGetAttribute(&is_managed, is_managed_attribute, address) == success &&
           is_managed == 0;
  }

  static Context context_of(std::uintptr_t address) {
    Context context = nullptr;
    const bool is_known =
        driver().cuPointerGetAttribute(&context, context_attribute, address) == success;
    return is_known && context != nullptr ? context : ThreadContext::current();
  }

  /// A stream for copies in the current context. The program may have reset its device, which ends
  /// all streams there.
  Stream stream_of(Context context) {
    const std::scoped_lock lock(mutex_);
    std::erase_if(streams_, [context](const OwnStream& own) {
      unsigned flags = 0;
      return own.context == context && driver().cuStreamGetFlags(own.stream, &flags) != success;
    });
    const auto found = std::ranges::find(streams_, context, &OwnStream::context);
    if (found != streams_.end()) return found->stream;
    Stream stream = nullptr;
    if (driver().cuStreamCreate(&stream, non_blocking_stream) != success) return nullptr;
    streams_.push_back({.context = context, .stream = stream});
    return stream;
  }

  PinnedMemory pinned_;
  /// While the parts of an update are issued.
  std::mutex updates_;
  std::mutex mutex_;
  std::vector<OwnStream> streams_;
};

void set_buffers() {
  static ProcessBuffers& of_process = *new ProcessBuffers;
  device::give_buffers(of_process);
}

}  // namespace

void give_process_buffers() {
  if (has_driver_code()) {
    set_buffers();
  } else {
    set_driver_hook(set_buffers);
  }
}

}  // namespace sorrel::program::gpu
