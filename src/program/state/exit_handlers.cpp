#include "program/state/exit_handlers.hpp"

namespace sorrel::program {

void ExitHandlers::run(std::vector<Handler>& handlers, int status) {
  while (!handlers.empty()) {
    const Handler handler = handlers.back();
    handlers.pop_back();
    if (handler.at_exit != nullptr) {
      handler.at_exit(handler.argument);
    } else {
      handler.on_exit(status, handler.argument);
    }
  }
}

void ExitHandlers::run(int status) {
  run(thread_local_, status);
  run(at_exit_, status);
}

void ExitHandlers::run_quick() {
  run(quick_, 0);
}

}  // namespace sorrel::program
