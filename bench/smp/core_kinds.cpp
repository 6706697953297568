// The mailbox and the message pool of src/core themselves, for smp.c.
#include "core_kinds.hpp"

#include <cstring>
#include <memory>
#include <vector>

#include "core/mailbox.hpp"
#include "core/message_pool.hpp"

namespace {

using sorrel::core::Mailbox;
using sorrel::core::MessagePool;
using sorrel::core::Record;

struct Channels {
  std::vector<std::unique_ptr<Mailbox>> mailboxes;
  MessagePool pool{std::size_t{1} << 20};
};

std::unique_ptr<Channels> channels;

}  // namespace

void mailboxes_open(int producers) {
  channels = std::make_unique<Channels>();
  for (int i = 0; i < producers; ++i)
    channels->mailboxes.push_back(std::make_unique<Mailbox>());
}

void mailboxes_close() {
  channels.reset();
}

int mailbox_put(int producer, std::uintptr_t item) {
  Record record;
  std::memcpy(record.words.data(), &item, sizeof item);
  return channels->mailboxes[static_cast<std::size_t>(producer)]->try_post(record, nullptr) ? 1 : 0;
}

std::uintptr_t mailbox_take(int producer) {
  std::uintptr_t item = 0;
  channels->mailboxes[static_cast<std::size_t>(producer)]->take(
      [&](const Record& record, const std::byte*) {
        std::memcpy(&item, record.words.data(), sizeof item);
      });
  return item;
}

int mailboxes_poll() {
  bool any = false;
  for (const auto& mailbox : channels->mailboxes)
    any |= mailbox->has_record();
  return any ? 1 : 0;
}

int mailbox_put_message(const void* message, unsigned bytes) {
  return channels->mailboxes[0]->try_post({.payload_bytes = bytes}, message) ? 1 : 0;
}

int mailbox_take_message() {
  return channels->mailboxes[0]->take([](const Record& record, const std::byte* payload) {
    void* copy = channels->pool.take(record.payload_bytes, MessagePool::WhenFull::fail);
    std::memcpy(copy, payload, record.payload_bytes);
    // The compiler may not leave the copy out.
    asm volatile("" : : "r"(copy) : "memory");
    channels->pool.give_back(copy, record.payload_bytes);
  })
             ? 1
             : 0;
}
