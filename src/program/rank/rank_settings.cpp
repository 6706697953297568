#include "program/rank/rank_settings.hpp"

#include <cerrno>
#include <utility>

#include "core/worker.hpp"
#include "program/rank/device_settings.hpp"
#include "program/rank/worker_settings.hpp"

namespace sorrel::program {

bool RankSettings::has_own_block() const {
  return fiber_->thread_pointer != 0;
}

/// Whether the C library keeps the locale for the calling thread alone: that of a rank with a
/// thread control block, or one that a rank has started.
bool RankSettings::has_thread_the_locale() const {
  return has_own_block() || core::Worker::current() == nullptr;
}

ThreadSettings RankSettings::shared() const {
  return shared_ != nullptr ? *shared_ : ThreadSettings();
}

void RankSettings::change(ThreadSettings settings) {
  with_used_locale_.directory = settings.directory;
  with_used_locale_.mask = settings.mask;
  shared_ = shared_settings(settings);
  install();
}

/// For the fiber at later switches, and for the calling thread now.
void RankSettings::install() {
  const ThreadSettings* now = used_locale_ != nullptr ? &with_used_locale_ : shared_.get();
  const core::Worker& worker = *fiber_->worker;
  fiber_->settings = with_device_context(*fiber_, now);
  WorkerSettings::of(worker).apply(worker, now, has_own_block());
}

bool RankSettings::separate_files() {
  const core::Worker& worker = *fiber_->worker;
  return WorkerSettings::of(worker).separate_files(worker);
}

bool RankSettings::take_directory() {
  WorkerSettings& worker = WorkerSettings::of(*fiber_->worker);
  if (!worker.take_directory()) {
    const int error = errno;
    WorkerSettings::enter_files(files());
    errno = error;
    return false;
  }
  ThreadSettings settings = shared();
  settings.directory = worker.now().directory;
  change(std::move(settings));
  return true;
}

void RankSettings::take_mask(mode_t mask) {
  WorkerSettings& worker = WorkerSettings::of(*fiber_->worker);
  worker.take_mask(mask);
  ThreadSettings settings = shared();
  settings.mask = worker.now().mask;
  change(std::move(settings));
}

const RankLocale& RankSettings::global_locale() const {
  const RankLocale* locale = global_locale_.load(std::memory_order_relaxed);
  return locale != nullptr ? *locale : RankLocale::initial();
}

void RankSettings::set_global_locale(const RankLocale& locale) {
  const bool is_used = used_locale() == nullptr;
  global_locale_.store(&locale, std::memory_order_relaxed);
  if (has_thread_the_locale()) {
    if (is_used) WorkerSettings::use_locale(locale.object());
    return;
  }
  ThreadSettings settings = shared();
  settings.locale = &locale == &RankLocale::initial() ? nullptr : locale.object();
  change(std::move(settings));
}

locale_t RankSettings::used_locale() const {
  if (!has_thread_the_locale()) return used_locale_;
  const locale_t used = WorkerSettings::use_locale(nullptr);
  const bool is_global = used == LC_GLOBAL_LOCALE || used == global_locale().object();
  return is_global ? nullptr : used;
}

bool RankSettings::are_changed() const {
  return fiber_->settings != nullptr || is_locale_in_block_ ||
         &global_locale() != &RankLocale::initial();
}

void RankSettings::use_locale(locale_t locale) {
  if (has_thread_the_locale()) {
    // libgfortran uses that of "C" in its statements of input and output. It stays where it is.
    if (core::Worker::current() != nullptr)
      is_locale_in_block_ = locale != nullptr && !RankLocale::is_constant(locale);
    WorkerSettings::use_locale(locale != nullptr ? locale : global_locale().object());
    return;
  }
  used_locale_ = locale;
  with_used_locale_.locale = locale;
  install();
}

}  // namespace sorrel::program
