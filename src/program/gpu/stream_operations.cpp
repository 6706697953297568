// Functions of the driver that take a stream and are otherwise left to the driver: each gets the
// rank's own default stream for a handle that names a default stream, behind what the rank's other
// streams have.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/check.hpp"
#include "program/base/libc.hpp"
#include "program/gpu/driver_api.hpp"
#include "program/gpu/rank_gpu.hpp"
#include "program/gpu/substitutes.hpp"

namespace sorrel::program::gpu {

namespace {

enum class Use : std::uint8_t { operation, question };

struct StreamFunction {
  const char* name;
  const char* symbol;
  const char* per_thread_symbol;
  int version;
  /// Arguments, and the number of that with the stream.
  std::size_t argument_count;
  std::size_t stream_at;
  Use use = Use::operation;
};

constexpr StreamFunction stream_functions[] = {
    {"cuLaunchKernel", "cuLaunchKernel", "cuLaunchKernel_ptsz", 4000, 11, 8},
    {"cuLaunchCooperativeKernel", "cuLaunchCooperativeKernel", "cuLaunchCooperativeKernel_ptsz",
     9000, 10, 8},
    {"cuLaunchHostFunc", "cuLaunchHostFunc", "cuLaunchHostFunc_ptsz", 10000, 3, 0},
    {"cuStreamAddCallback", "cuStreamAddCallback", "cuStreamAddCallback_ptsz", 5000, 4, 0},
    {"cuStreamWaitEvent", "cuStreamWaitEvent", "cuStreamWaitEvent_ptsz", 3020, 3, 0},
    {"cuEventRecord", "cuEventRecord", "cuEventRecord_ptsz", 2000, 2, 1},
    {"cuEventRecordWithFlags", "cuEventRecordWithFlags", "cuEventRecordWithFlags_ptsz", 11010, 3,
     1},
    {"cuGraphLaunch", "cuGraphLaunch", "cuGraphLaunch_ptsz", 10000, 2, 1},
    {"cuGraphUpload", "cuGraphUpload", "cuGraphUpload_ptsz", 11010, 2, 1},
    {"cuMemcpyPeerAsync", "cuMemcpyPeerAsync", "cuMemcpyPeerAsync_ptsz", 4000, 6, 5},
    {"cuMemcpyDtoDAsync", "cuMemcpyDtoDAsync_v2", "cuMemcpyDtoDAsync_v2_ptsz", 3020, 4, 3},
    {"cuMemcpyHtoAAsync", "cuMemcpyHtoAAsync_v2", "cuMemcpyHtoAAsync_v2_ptsz", 3020, 5, 4},
    {"cuMemcpyAtoHAsync", "cuMemcpyAtoHAsync_v2", "cuMemcpyAtoHAsync_v2_ptsz", 3020, 5, 4},
    {"cuMemcpy2DAsync", "cuMemcpy2DAsync_v2", "cuMemcpy2DAsync_v2_ptsz", 3020, 2, 1},
    {"cuMemcpy3DAsync", "cuMemcpy3DAsync_v2", "cuMemcpy3DAsync_v2_ptsz", 3020, 2, 1},
    {"cuMemcpy3DPeerAsync", "cuMemcpy3DPeerAsync", "cuMemcpy3DPeerAsync_ptsz", 4000, 2, 1},
    {"cuMemcpyBatchAsync", "cuMemcpyBatchAsync", "cuMemcpyBatchAsync_ptsz", 12080, 9, 8},
    {"cuMemcpyBatchAsync", "cuMemcpyBatchAsync_v2", "cuMemcpyBatchAsync_v2_ptsz", 13000, 8, 7},
    {"cuMemcpy3DBatchAsync", "cuMemcpy3DBatchAsync", "cuMemcpy3DBatchAsync_ptsz", 12080, 5, 4},
    {"cuMemcpy3DBatchAsync", "cuMemcpy3DBatchAsync_v2", "cuMemcpy3DBatchAsync_v2_ptsz", 13000, 4,
     3},
    {"cuMemsetD8Async", "cuMemsetD8Async", "cuMemsetD8Async_ptsz", 3020, 4, 3},
    {"cuMemsetD16Async", "cuMemsetD16Async", "cuMemsetD16Async_ptsz", 3020, 4, 3},
    {"cuMemsetD32Async", "cuMemsetD32Async", "cuMemsetD32Async_ptsz", 3020, 4, 3},
    {"cuMemsetD2D8Async", "cuMemsetD2D8Async", "cuMemsetD2D8Async_ptsz", 3020, 6, 5},
    {"cuMemsetD2D16Async", "cuMemsetD2D16Async", "cuMemsetD2D16Async_ptsz", 3020, 6, 5},
    {"cuMemsetD2D32Async", "cuMemsetD2D32Async", "cuMemsetD2D32Async_ptsz", 3020, 6, 5},
    {"cuMemPrefetchAsync", "cuMemPrefetchAsync", "cuMemPrefetchAsync_ptsz", 8000, 4, 3},
    {"cuMemPrefetchAsync", "cuMemPrefetchAsync_v2", "cuMemPrefetchAsync_v2_ptsz", 12020, 5, 4},
    {"cuMemMapArrayAsync", "cuMemMapArrayAsync", "cuMemMapArrayAsync_ptsz", 11010, 3, 2},
    {"cuStreamAttachMemAsync", "cuStreamAttachMemAsync", "cuStreamAttachMemAsync_ptsz", 6000, 4, 0},
    {"cuStreamWaitValue32", "cuStreamWaitValue32", "cuStreamWaitValue32_ptsz", 8000, 4, 0},
    {"cuStreamWriteValue32", "cuStreamWriteValue32", "cuStreamWriteValue32_ptsz", 8000, 4, 0},
    {"cuStreamWaitValue64", "cuStreamWaitValue64", "cuStreamWaitValue64_ptsz", 9000, 4, 0},
    {"cuStreamWriteValue64", "cuStreamWriteValue64", "cuStreamWriteValue64_ptsz", 9000, 4, 0},
    {"cuStreamBatchMemOp", "cuStreamBatchMemOp", "cuStreamBatchMemOp_ptsz", 8000, 4, 0},
    {"cuStreamWaitValue32", "cuStreamWaitValue32_v2", "cuStreamWaitValue32_v2_ptsz", 11070, 4, 0},
    {"cuStreamWriteValue32", "cuStreamWriteValue32_v2", "cuStreamWriteValue32_v2_ptsz", 11070, 4,
     0},
    {"cuStreamWaitValue64", "cuStreamWaitValue64_v2", "cuStreamWaitValue64_v2_ptsz", 11070, 4, 0},
    {"cuStreamWriteValue64", "cuStreamWriteValue64_v2", "cuStreamWriteValue64_v2_ptsz", 11070, 4,
     0},
    {"cuStreamBatchMemOp", "cuStreamBatchMemOp_v2", "cuStreamBatchMemOp_v2_ptsz", 11070, 4, 0},
    {"cuGraphicsMapResources", "cuGraphicsMapResources", "cuGraphicsMapResources_ptsz", 3000, 3, 2},
    {"cuGraphicsUnmapResources", "cuGraphicsUnmapResources", "cuGraphicsUnmapResources_ptsz", 3000,
     3, 2},
    {"cuSignalExternalSemaphoresAsync", "cuSignalExternalSemaphoresAsync",
     "cuSignalExternalSemaphoresAsync_ptsz", 10000, 4, 3},
    {"cuWaitExternalSemaphoresAsync", "cuWaitExternalSemaphoresAsync",
     "cuWaitExternalSemaphoresAsync_ptsz", 10000, 4, 3},
    {"cuStreamQuery", "cuStreamQuery", "cuStreamQuery_ptsz", 2000, 1, 0, Use::question},
    {"cuStreamGetPriority", "cuStreamGetPriority", "cuStreamGetPriority_ptsz", 5050, 2, 0,
     Use::question},
    {"cuStreamGetFlags", "cuStreamGetFlags", "cuStreamGetFlags_ptsz", 5050, 2, 0, Use::question},
    {"cuStreamGetId", "cuStreamGetId", "cuStreamGetId_ptsz", 12000, 2, 0, Use::question},
    {"cuStreamGetCtx", "cuStreamGetCtx", "cuStreamGetCtx_ptsz", 9020, 2, 0, Use::question},
    {"cuStreamGetCtx", "cuStreamGetCtx_v2", "cuStreamGetCtx_v2_ptsz", 12050, 3, 0, Use::question},
    {"cuStreamIsCapturing", "cuStreamIsCapturing", "cuStreamIsCapturing_ptsz", 10000, 2, 0,
     Use::question},
    {"cuStreamGetCaptureInfo", "cuStreamGetCaptureInfo", "cuStreamGetCaptureInfo_ptsz", 10010, 3, 0,
     Use::question},
    {"cuStreamGetCaptureInfo", "cuStreamGetCaptureInfo_v2", "cuStreamGetCaptureInfo_v2_ptsz", 11030,
     6, 0, Use::question},
    {"cuStreamGetCaptureInfo", "cuStreamGetCaptureInfo_v3", "cuStreamGetCaptureInfo_v3_ptsz", 12030,
     7, 0, Use::question},
    {"cuStreamUpdateCaptureDependencies", "cuStreamUpdateCaptureDependencies",
     "cuStreamUpdateCaptureDependencies_ptsz", 11030, 4, 0, Use::question},
    {"cuStreamUpdateCaptureDependencies", "cuStreamUpdateCaptureDependencies_v2",
     "cuStreamUpdateCaptureDependencies_v2_ptsz", 12030, 5, 0, Use::question},
    {"cuStreamGetAttribute", "cuStreamGetAttribute", "cuStreamGetAttribute_ptsz", 11000, 3, 0,
     Use::question},
    {"cuStreamSetAttribute", "cuStreamSetAttribute", "cuStreamSetAttribute_ptsz", 11000, 3, 0,
     Use::question},
};

constexpr std::size_t function_count = std::size(stream_functions);
static_assert(std::ranges::all_of(stream_functions, [](const StreamFunction& function) {
  return function.stream_at < function.argument_count;
}));

/// The driver's own, both variants.
std::array<std::array<void*, function_count>, 2> driver_functions{};

/// All arguments of these functions are integers, pointers, or structures that are passed as one
/// integer: on the processors that Sorrel supports, each has a register or a place of eight bytes,
/// and the function that is called reads the part that it declares.
using Word = std::uint64_t;

template <std::size_t>
using WordFor = Word;

template <std::size_t Function, NullStream null_stream, class Sequence>
struct Forward;

template <std::size_t Function, NullStream null_stream, std::size_t... I>
struct Forward<Function, null_stream, std::index_sequence<I...>> {
  static Result call(WordFor<I>... words) {
    constexpr const StreamFunction& function = stream_functions[Function];
    std::array<Word, sizeof...(I)> arguments{words...};
    if (RankGpu* gpu = gpu_of_caller(); gpu != nullptr) {
      Word& word = arguments[function.stream_at];
      auto* handle = reinterpret_cast<Stream>(word);
      word = reinterpret_cast<Word>(function.use == Use::operation
                                        ? gpu->streams().enter(handle, null_stream)
                                        : gpu->streams().find(handle, null_stream));
    }
    auto* real = reinterpret_cast<Result (*)(WordFor<I>...)>(
        driver_functions[static_cast<std::size_t>(null_stream)][Function]);
    SORREL_ASSERT(real != nullptr, "the driver has no %s", function.symbol);
    return real(arguments[I]...);
  }
};

template <std::size_t Function, NullStream null_stream>
Substitute substitute() {
  constexpr const StreamFunction& function = stream_functions[Function];
  using Own = Forward<Function, null_stream,
                      std::make_index_sequence<stream_functions[Function].argument_count>>;
  const bool is_legacy = null_stream == NullStream::legacy;
  return {function.name, is_legacy ? function.symbol : function.per_thread_symbol, function.version,
          is_legacy ? Variant::legacy : Variant::per_thread, reinterpret_cast<void*>(Own::call)};
}

template <std::size_t... I>
std::array<Substitute, 2 * sizeof...(I)> make_table(std::index_sequence<I...>) {
  return {substitute<I, NullStream::legacy>()..., substitute<I, NullStream::per_thread>()...};
}

}  // namespace

void load_stream_operations(void* library) {
  for (std::size_t i = 0; i < function_count; ++i) {
    driver_functions[0][i] = loader_dlsym()(library, stream_functions[i].symbol);
    driver_functions[1][i] = loader_dlsym()(library, stream_functions[i].per_thread_symbol);
  }
}

std::span<const Substitute> operation_substitutes() {
  static const auto table = make_table(std::make_index_sequence<function_count>());
  return table;
}

}  // namespace sorrel::program::gpu
