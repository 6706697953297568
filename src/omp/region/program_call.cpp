#include "omp/region/program_call.hpp"

#include <utility>

#include "omp/tasking/tool_events.hpp"

namespace sorrel::omp {

void ProgramCall::begin(const void* code, void* frame) {
  TeamThread& thread = this_thread();
  if (!has_tool()) return;
  thread_ = &thread;
  outer_code_ = std::exchange(thread.tool_code, code);
  ompt::Frame& own = tool_task_of(*thread.task).frame;
  own.enter_frame.pointer = frame;
  own.enter_frame_flags = ompt::frame_of_runtime | ompt::frame_by_cfa;
}

// The task may be another one: a call can begin or end one.
void ProgramCall::end() {
  if (has_tool()) tool_task_of(*thread_->task).frame.enter_frame = {};
  thread_->tool_code = outer_code_;
}

}  // namespace sorrel::omp
