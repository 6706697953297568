#include "program/gpu/rank_streams.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace sorrel::program::gpu {

namespace {

// Handles that name the caller's default streams.
constexpr std::uintptr_t legacy_handle = 1;
constexpr std::uintptr_t per_thread_handle = 2;

bool names_default(Stream handle) {
  return reinterpret_cast<std::uintptr_t>(handle) <= per_thread_handle;
}

bool is_legacy(Stream handle, NullStream null_stream) {
  const auto number = reinterpret_cast<std::uintptr_t>(handle);
  return number == legacy_handle || (number == 0 && null_stream == NullStream::legacy);
}

/// `behind` waits for what `before` has been given so far.
void order(Stream before, Stream behind, Event event) {
  static_cast<void>(driver().cuEventRecord(event, before));
  static_cast<void>(driver().cuStreamWaitEvent(behind, event, 0));
}

void make(Stream& stream, unsigned flags) {
  if (stream == nullptr && driver().cuStreamCreate(&stream, flags) != success) stream = nullptr;
}

}  // namespace

/// The default streams of the calling thread's current context; null: it has none.
RankStreams::Defaults* RankStreams::defaults() {
  Context context = nullptr;
  if (driver().cuCtxGetCurrent(&context) != success || context == nullptr) return nullptr;
  const auto found = std::ranges::find(defaults_, context, &Defaults::context);
  if (found != defaults_.end()) return &*found;
  defaults_.push_back({.context = context});
  return &defaults_.back();
}

RankStreams::Own* RankStreams::own_of(Stream stream) {
  const auto found = std::ranges::find(streams_, stream, &Own::stream);
  return found != streams_.end() ? &*found : nullptr;
}

/// Made at the first use, behind all that the rank's blocking streams have. Null: it cannot be
/// made.
Stream RankStreams::legacy_stream(Defaults& of) {
  if (of.event == nullptr && driver().cuEventCreate(&of.event, event_without_times) != success)
    return nullptr;
  make(of.legacy, blocking_stream);
  is_legacy_used_ = true;
  if (of.legacy != nullptr && capture_count_ == 0) order_legacy(of);
  return of.legacy;
}

Stream RankStreams::find(Stream handle, NullStream null_stream) {
  if (!names_default(handle)) return handle;
  const std::scoped_lock lock(mutex_);
  Defaults* of = defaults();
  if (of == nullptr) return handle;
  if (is_legacy(handle, null_stream)) {
    // What waits for the legacy stream waits for blocking streams, too.
    Stream stream = legacy_stream(*of);
    return stream != nullptr ? stream : handle;
  }
  if (of->per_thread == nullptr) {
    make(of->per_thread, blocking_stream);
    if (of->per_thread == nullptr) return handle;
    SORREL_ASSERT(own_of(of->per_thread) == nullptr, "the stream is the rank's already");
    streams_.push_back({.stream = of->per_thread, .context = of->context, .is_blocking = true});
  }
  return of->per_thread;
}

Stream RankStreams::enter(Stream handle, NullStream null_stream) {
  if (names_default(handle)) {
    Stream stream = find(handle, null_stream);
    const std::scoped_lock lock(mutex_);
    Defaults* of = defaults();
    if (of == nullptr || capture_count_ != 0) return stream;
    if (is_legacy(handle, null_stream)) {
      ++of->legacy_count;
    } else if (Own* own = own_of(stream); own != nullptr) {
      order_blocking(*own);
    }
    return stream;
  }
  const std::scoped_lock lock(mutex_);
  if (!is_legacy_used_ || capture_count_ != 0) return handle;
  Own* own = own_of(handle);
  if (own != nullptr && own->is_blocking) order_blocking(*own);
  return handle;
}

/// Before an operation in the legacy stream of a context.
void RankStreams::order_legacy(Defaults& of) {
  SORREL_ASSERT(of.legacy != nullptr && of.event != nullptr, "the default stream is not made");
  for (Own& own : streams_) {
    if (!own.is_blocking || own.context != of.context || !own.has_news) continue;
    order(own.stream, of.legacy, of.event);
    own.has_news = false;
  }
}

/// Before an operation in a blocking stream.
void RankStreams::order_blocking(Own& own) {
  own.has_news = true;
  const auto of = std::ranges::find(defaults_, own.context, &Defaults::context);
  if (of == defaults_.end() || of->legacy == nullptr || own.legacy_seen == of->legacy_count) return;
  SORREL_ASSERT(of->event != nullptr, "a default stream without an event");
  order(of->legacy, own.stream, of->event);
  own.legacy_seen = of->legacy_count;
}

bool RankStreams::is_default(Stream stream) {
  const std::scoped_lock lock(mutex_);
  return std::ranges::any_of(defaults_, [stream](const Defaults& of) {
    return stream == of.legacy || stream == of.per_thread;
  });
}

void RankStreams::add(Stream stream, bool is_blocking) {
  SORREL_ASSERT(!is_default(stream), "a default stream is no stream of its own");
  Context context = nullptr;
  static_cast<void>(driver().cuCtxGetCurrent(&context));
  const std::scoped_lock lock(mutex_);
  streams_.push_back({.stream = stream, .context = context, .is_blocking = is_blocking});
}

void RankStreams::remove(Stream stream) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(streams_, [stream](const Own& own) { return own.stream == stream; });
}

void RankStreams::begin_capture() {
  const std::scoped_lock lock(mutex_);
  ++capture_count_;
}

void RankStreams::end_capture() {
  const std::scoped_lock lock(mutex_);
  if (capture_count_ > 0) --capture_count_;
}

/// A stream of the rank in the current context, outside of the legacy order.
Stream RankStreams::own_stream(Stream Defaults::* which) {
  const std::scoped_lock lock(mutex_);
  Defaults* of = defaults();
  if (of == nullptr) return nullptr;
  make(of->*which, non_blocking_stream);
  return of->*which;
}

Stream RankStreams::wake_stream() {
  return own_stream(&Defaults::wake);
}

Stream RankStreams::copy_stream() {
  return own_stream(&Defaults::copy);
}

Stream RankStreams::window_stream() {
  return own_stream(&Defaults::window);
}

std::vector<Stream> RankStreams::of_context(Context context) {
  const std::scoped_lock lock(mutex_);
  std::vector<Stream> found;
  for (const Own& own : streams_) {
    if (own.context == context) found.push_back(own.stream);
  }
  for (const Defaults& of : defaults_) {
    if (of.context == context && of.legacy != nullptr) found.push_back(of.legacy);
  }
  return found;
}

std::vector<Stream> RankStreams::take_all_of(Context context, std::vector<Event>& events) {
  std::vector<Stream> taken = of_context(context);
  const std::scoped_lock lock(mutex_);
  for (const Defaults& of : defaults_) {
    if (of.context != context) continue;
    for (Stream own : {of.wake, of.copy, of.window}) {
      if (own != nullptr) taken.push_back(own);
    }
    if (of.event != nullptr) events.push_back(of.event);
  }
  std::erase_if(streams_, [context](const Own& own) { return own.context == context; });
  std::erase_if(defaults_, [context](const Defaults& of) { return of.context == context; });
  return taken;
}

}  // namespace sorrel::program::gpu
