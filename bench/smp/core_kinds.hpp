/* The mailbox and the message pool of src/core, for the C program beside. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Empty mailboxes of `producers` producers to one consumer. */
void mailboxes_open(int producers);
void mailboxes_close(void);
/* 0: full. */
int mailbox_put(int producer, uintptr_t item);
/* 0: empty. */
uintptr_t mailbox_take(int producer);

/* A worker's poll of all mailboxes: 1 if one has a record. */
int mailboxes_poll(void);

/* A message of `bytes` bytes: copied into the mailbox of producer 0, and by the consumer into a
   buffer of its pool, which is then given back. 0: full, or empty. */
int mailbox_put_message(const void* message, unsigned bytes);
int mailbox_take_message(void);

#ifdef __cplusplus
}
#endif
