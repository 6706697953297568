#include "tools/sorrel/check/finding_kinds.hpp"

namespace sorrel::tool {

namespace {

constexpr const char* end_of_objects =
    "an object is freed by its own function; Finalize frees none for the program";

constexpr FindingKind kinds[] = {
    {"argument", true, "9.3", "a call with a wrong argument is erroneous"},
    {"buffer-changed", true, "3.7.2",
     "the buffer of an operation in progress is not modified before its completion"},
    {"buffer-overlap", true, "3.7.2",
     "a buffer that a call writes to is used by nothing else before the completion"},
    {"collective-op", true, "6.9.1", "all members use the same operation"},
    {"collective-order", true, "6.14",
     "all members call the collectives of a communicator in the same order"},
    {"collective-root", true, "6.3", "all members name the same root"},
    {"collective-type", true, "6.1",
     "the amount and types of data sent are those that are received"},
    {"crash", true, "2.8", "after an erroneous call the state of the program is undefined"},
    {"deadlock", true, "3.5", "each rank waits for a call that no rank makes"},
    {"deadlock-unbuffered", true, "3.5",
     "a program that needs messages to be buffered is unsafe; a standard send may wait"},
    {"finalize", true, "11.2.2", "each process calls MPI_Finalize before it ends"},
    {"leak-communicator", false, "7.4.3", end_of_objects},
    {"leak-datatype", false, "5.1.9", end_of_objects},
    {"leak-errhandler", false, "9.3.4", end_of_objects},
    {"leak-file", true, "11.2.2", "files are closed before MPI_Finalize"},
    {"leak-group", false, "7.3.3", end_of_objects},
    {"leak-info", false, "10", end_of_objects},
    {"leak-message", true, "3.8.2", "a message of a matched probe is received"},
    {"leak-op", false, "6.9.7", end_of_objects},
    {"leak-request", true, "11.2.2",
     "before MPI_Finalize a process completes its communication and frees its requests"},
    {"leak-session", false, "11.3.1", end_of_objects},
    {"leak-window", true, "11.2.2", "windows are freed before MPI_Finalize"},
    {"message-truncated", true, "3.2.4", "a message is not longer than the receive buffer"},
    {"message-type", true, "3.3.1", "the datatypes of send and receive match"},
    {"request", true, "3.7.3", "a request is active, or MPI_REQUEST_NULL"},
    {"rma-conflict", true, "12.7", "conflicting accesses are separated by synchronization"},
    {"rma-range", true, "12.3", "an access lies within the target's window"},
    {"rma-synchronization", true, "12.5",
     "a window is accessed in an epoch that synchronization calls open and close"},
    {"schedule", true, "3.5", "messages of different senders may arrive in any order"},
};

constexpr FindingKind unknown_kind{"unknown", true, "", ""};

}  // namespace

const FindingKind& finding_kind(std::string_view name) {
  for (const FindingKind& kind : kinds) {
    if (kind.name == name) return kind;
  }
  return unknown_kind;
}

}  // namespace sorrel::tool
