#include "mpi/match/device_copy.hpp"

#include "base/check.hpp"
#include "mpi/datatype/data_span.hpp"
#include "mpi/datatype/rows.hpp"

namespace sorrel::mpi {

namespace {

std::uintptr_t moved(std::uintptr_t address, std::int64_t by) {
  return address + static_cast<std::uintptr_t>(by);
}

PackedRange range_of(const TypedRows& rows) {
  return {.from = rows.packed, .to = rows.packed + rows.bytes * rows.count};
}

/// The first `bytes` bytes of a message, from one device buffer to another one.
class DirectCopy {
 public:
  DirectCopy(const DeviceData& from, const DeviceData& to, device::DirectMemory& memory)
      : from_(from), to_(to), memory_(memory) {}

  /// False: the driver rejects a part of it.
  [[nodiscard]] bool begin(std::size_t bytes, device::CopyStreams& used) {
    used_ = &used;
    for_each_rows(*from_.type, from_.count, bytes, [&](const TypedRows& source) {
      for_each_rows_in(*to_.type, to_.count, range_of(source),
                       [&](const TypedRows& target) { copy(source, target); });
    });
    return is_good_;
  }

 private:
  /// What `target` has of `source`.
  void copy(const TypedRows& source, const TypedRows& target) {
    std::size_t part_count = 0;
    TypedRows part{};
    auto take = [&](const TypedRows& found) {
      part = found;
      ++part_count;
    };
    visit_rows_in(source, range_of(target), take);
    const bool is_one = part_count == 1;
    if (is_one && (part.count == 1 || target.count == 1 || part.bytes == target.bytes))
      return copy_alike(part, target);
    // Each row of the target by itself.
    for (std::size_t i = 0; i < target.count; ++i) {
      const TypedRows row{.displacement = moved_by_rows(target, i),
                          .packed = target.packed + i * target.bytes,
                          .bytes = target.bytes,
                          .count = 1,
                          .stride = 0};
      auto copy_part = [&](const TypedRows& found) {
        TypedRows to = row;
        to.displacement += static_cast<std::int64_t>(found.packed - row.packed);
        to.bytes = found.bytes * found.count;
        copy_alike(found, to);
      };
      visit_rows_in(source, range_of(row), copy_part);
    }
  }

  static std::int64_t moved_by_rows(const TypedRows& rows, std::size_t count) {
    return rows.displacement + static_cast<std::int64_t>(count) * rows.stride;
  }

  /// Equally many bytes, of which one side may be a single row.
  void copy_alike(const TypedRows& source, const TypedRows& target) {
    const bool is_source_split = source.count >= target.count;
    const TypedRows& shape = is_source_split ? source : target;
    const auto run = static_cast<std::int64_t>(shape.bytes);
    const auto stride_of = [&](const TypedRows& rows) {
      return rows.count == shape.count && rows.count > 1 ? rows.stride : run;
    };
    SORREL_ASSERT(source.bytes * source.count == target.bytes * target.count,
                  "%zu rows of %zu bytes to %zu of %zu", source.count, source.bytes, target.count,
                  target.bytes);
    is_good_ = is_good_ && memory_.copy_from({.from = moved(from_.address, source.displacement),
                                              .to = moved(to_.address, target.displacement),
                                              .bytes = shape.bytes,
                                              .count = shape.count,
                                              .from_stride = stride_of(source),
                                              .to_stride = stride_of(target)},
                                             *used_);
  }

  const DeviceData& from_;
  const DeviceData& to_;
  device::DirectMemory& memory_;
  device::CopyStreams* used_ = nullptr;
  bool is_good_ = true;
};

}  // namespace

bool holds(device::DirectMemory& memory, const DeviceData& data) {
  const DataSpan span = span_of(*data.type, data.count);
  return memory.holds(span.begin_at(data.address), span.end_at(data.address));
}

bool is_within_device(const DeviceData& from,
                      device::DirectMemory& source,
                      const DeviceData& to,
                      device::DirectMemory& target) {
  return holds(source, from) && holds(target, to) &&
         target.is_near(to.address, source, from.address);
}

bool begin_copy_within_device(const DeviceData& from,
                              const DeviceData& to,
                              device::DirectMemory& target,
                              std::size_t bytes,
                              device::CopyStreams& used) {
  return DirectCopy(from, to, target).begin(bytes, used);
}

}  // namespace sorrel::mpi
