#include "runtime/program_calls.hpp"

#include "runtime/python/lines.hpp"

namespace sorrel::runtime {

symbols::Backtrace::Texts calls_of_program(symbols::Backtrace backtrace) {
  backtrace.take_of_library();
  symbols::Backtrace::Texts texts;
  backtrace.describe(texts);
  if (backtrace.keeps_all()) return texts;
  symbols::Backtrace::Texts python{};
  return has_python_lines() && describe_python(python) > 0 ? python : texts;
}

}  // namespace sorrel::runtime
