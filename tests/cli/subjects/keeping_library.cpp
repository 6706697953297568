// Libraries that keep one kind of state each, or none; no symbol shows which.
#include <stdexcept>
#include <string>
#include <typeinfo>

#define EXPORTED extern "C" [[gnu::visibility("default")]]

#if defined(KEEPS_byte)
static volatile char kept;

EXPORTED int kept_value(int value) {
  kept = static_cast<char>(kept + value);
  return kept;
}
#elif defined(KEEPS_number)
static volatile int kept;

EXPORTED int kept_value(int value) {
  kept = kept + value;
  return kept;
}
#elif defined(KEEPS_value)
static volatile int kept = 4;

EXPORTED int kept_value(int value) {
  kept = kept + value;
  return kept;
}
#elif defined(KEEPS_pointer)
static int once(int value) {
  return value;
}

static int (*volatile kept)(int) = once;

EXPORTED int kept_value(int value) {
  return kept(value);
}

EXPORTED void keep(int (*function)(int)) {
  kept = function;
}
#elif defined(KEEPS_pointed)
static char kept;
static char* const pointers[] = {&kept, &kept};

EXPORTED char* kept_place(int which) {
  return pointers[which];
}
#elif defined(KEEPS_thread_local)
static thread_local volatile int kept;

EXPORTED int kept_value(int value) {
  kept = kept + value;
  return kept;
}
#elif defined(KEEPS_table)
static volatile int kept[100];

EXPORTED int kept_value(int value) {
  kept[value % 100] = kept[value % 100] + 1;
  return kept[value % 100];
}
#elif defined(KEEPS_much)
EXPORTED int kept_table[1000];
int kept_table[1000];
#elif defined(KEEPS_constants)
static int twice(int value) {
  return 2 * value;
}

static int thrice(int value) {
  return 3 * value;
}

static int (*const functions[])(int) = {twice, thrice};
EXPORTED const char* const names[2];
const char* const names[2] = {"twice", "thrice"};

EXPORTED int value_of(int which, int value) {
  return functions[which](value);
}
#elif defined(KEEPS_exceptions)
struct Base {
  virtual ~Base() = default;

  virtual int value() const { return 1; }
};

struct Derived : Base {
  int value() const override { throw std::runtime_error("none"); }
};

EXPORTED int value_of(int count) {
  try {
    const Derived derived;
    const Base& base = derived;
    return static_cast<int>(std::string(static_cast<std::size_t>(count), 'x').size()) +
           base.value();
  } catch (const std::exception&) {
    return 2;
  }
}
#else
EXPORTED int value_of(int value) {
  return 2 * value;
}
#endif
