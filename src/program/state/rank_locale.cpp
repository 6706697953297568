#include "program/state/rank_locale.hpp"

#include <algorithm>
#include <cstring>
#include <langinfo.h>
#include <map>
#include <memory>
#include <mutex>

#include "base/check.hpp"
#include "program/base/libc.hpp"

namespace sorrel::program {

namespace {

struct Category {
  int number;
  const char* name;
};

// In the order in which setlocale() lists them.
constexpr std::array<Category, 12> categories = {{
    {LC_CTYPE, "LC_CTYPE"},
    {LC_NUMERIC, "LC_NUMERIC"},
    {LC_TIME, "LC_TIME"},
    {LC_COLLATE, "LC_COLLATE"},
    {LC_MONETARY, "LC_MONETARY"},
    {LC_MESSAGES, "LC_MESSAGES"},
    {LC_PAPER, "LC_PAPER"},
    {LC_NAME, "LC_NAME"},
    {LC_ADDRESS, "LC_ADDRESS"},
    {LC_TELEPHONE, "LC_TELEPHONE"},
    {LC_MEASUREMENT, "LC_MEASUREMENT"},
    {LC_IDENTIFICATION, "LC_IDENTIFICATION"},
}};

locale_t copy_of(locale_t object) {
  static auto* const real = next_definition<decltype(::duplocale)>("duplocale");
  return real(object);
}

const char* name_of(int category, locale_t object) {
  return ::nl_langinfo_l(NL_LOCALE_NAME(category), object);
}

/// The shared object with the names of `object`, which is freed if there is one.
const RankLocale& shared_locale(locale_t object) {
  static std::mutex& mutex = *new std::mutex;
  static auto& locales = *new std::map<std::string, std::unique_ptr<RankLocale>>;
  auto made = std::make_unique<RankLocale>(object);
  const std::scoped_lock lock(mutex);
  const auto [entry, is_new] = locales.try_emplace(made->name(LC_ALL), std::move(made));
  if (!is_new) ::freelocale(object);
  return *entry->second;
}

}  // namespace

RankLocale::RankLocale(locale_t object) : object_(object) {
  SORREL_CHECK(object != nullptr, "no memory for a locale");
  const char* first = name_of(LC_CTYPE, object);
  const bool are_equal = std::ranges::all_of(categories, [&](const Category& category) {
    return std::strcmp(name_of(category.number, object), first) == 0;
  });
  if (are_equal) {
    names_of_all_ = first;
    return;
  }
  for (const Category& category : categories) {
    if (!names_of_all_.empty()) names_of_all_ += ';';
    names_of_all_ += category.name;
    names_of_all_ += '=';
    names_of_all_ += name_of(category.number, object);
  }
}

const RankLocale& RankLocale::initial() {
  static const RankLocale& locale = shared_locale(copy_of(LC_GLOBAL_LOCALE));
  return locale;
}

bool RankLocale::is_constant(locale_t locale) {
  static auto* const real_make = next_definition<decltype(::newlocale)>("newlocale");
  static const locale_t constant = real_make(LC_ALL_MASK, "C", nullptr);
  return locale == constant || std::ranges::equal(locale->__locales, constant->__locales);
}

const RankLocale* RankLocale::with(int category, const char* name) const {
  static auto* const real_make = next_definition<decltype(::newlocale)>("newlocale");
  const int mask = category == LC_ALL ? LC_ALL_MASK : 1 << category;
  const locale_t base = copy_of(object_);
  const locale_t made = real_make(mask, name, base);
  if (made != nullptr) return &shared_locale(made);
  if (base != nullptr) ::freelocale(base);
  return nullptr;
}

const char* RankLocale::name(int category) const {
  if (category == LC_ALL) return names_of_all_.c_str();
  const bool is_known = std::ranges::any_of(
      categories, [&](const Category& known) { return known.number == category; });
  return is_known ? name_of(category, object_) : nullptr;
}

}  // namespace sorrel::program
