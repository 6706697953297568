#pragma once

enum { pages_bytes = 1 << 20, pages_page_bytes = 4096 };

struct pages_of_pointer {
  char* pointer;
  char rest[pages_page_bytes - sizeof(char*)];
} __attribute__((aligned(4096)));

extern const char pages_constants[pages_bytes];
extern char pages_zeroed[pages_bytes];
extern char pages_initialised[pages_bytes];
extern struct pages_of_pointer pages_of_pointers[8];
