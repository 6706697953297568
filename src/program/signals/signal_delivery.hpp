//! SignalDelivery - delivers signals to ranks.
//!
//! The process installs one handler for each signal for which a rank has a handler. It records for
//! which ranks the signal is pending. A fault belongs to the running rank, and that rank's handler
//! runs at once. Other signals are delivered by a thread of this library, which starts when the
//! first rank requests a handler or an alarm. If the rank runs, the thread interrupts its worker's
//! thread with the same signal, so that system calls end as they would. If the rank waits, the
//! thread calls its worker (Worker::request_attention). It repeats this until the rank has run its
//! handler, so no signal is lost when the rank stops or begins to run meanwhile.
//!
//! When ranks come to the process or go, signals are held: the handler then records that one has
//! arrived, and the process sends it to itself again afterwards. So each is delivered to ranks
//! that are there.
#pragma once

#include <csignal>
#include <vector>

namespace sorrel::program {

class RankProcess;

/// Before there are ranks: signals for which `is_of_process(info)` holds concern no rank. The
/// handler that was installed before those of ranks gets them.
void prepare_signal_delivery(bool (*is_of_process)(const siginfo_t& info));

/// Before the first rank runs, and between hold_signals() and release_signals(): the ranks of this
/// process. They last until the next call.
void set_signal_targets(std::vector<RankProcess*> processes);

/// While no rank runs. After hold_signals(), signals to the process stay in this module, and the
/// signal state of ranks does not change. release_signals() delivers them.
void hold_signals();
void release_signals();

/// Start the thread if it does not run; notify it that a signal is pending. notify is for any
/// thread and signal handlers.
void start_signal_delivery();
void notify_signal_delivery();

/// On the worker of a rank that waits, in MPI or outside, and has work; outside of any fiber.
void deliver_to_waiting(RankProcess& process);

}  // namespace sorrel::program
