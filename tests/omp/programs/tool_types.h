// What a tool of the program's own shares with the library (OMPT), as far as these programs use it.
#pragma once

#include <stdint.h>

typedef union {
  uint64_t value;
  void* ptr;
} Data;

typedef struct {
  Data exit_frame, enter_frame;
  int exit_flags, enter_flags;
} Frame;

typedef void (*Function)(void);
typedef Function (*Lookup)(const char* name);

typedef struct {
  int (*initialize)(Lookup lookup, int device, Data* tool);
  void (*finalize)(Data* tool);
  Data tool_data;
} Start;

typedef struct {
  Data variable;
  int kind;
} Dependence;

typedef struct {
  uint64_t start, iterations;
} LoopChunk;
