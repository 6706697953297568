/* Much memory of every kind, of which hardly any page holds a pointer. */
#include "pages_library.h"

const char pages_constants[pages_bytes] = {1};
char pages_zeroed[pages_bytes];
char pages_initialised[pages_bytes] = {1, [pages_bytes - 1] = 2};
/* One pointer in each of eight pages, and nothing else there. */
struct pages_of_pointer pages_of_pointers[8] = {
    {.pointer = &pages_zeroed[0]}, {.pointer = &pages_zeroed[1]}, {.pointer = &pages_zeroed[2]},
    {.pointer = &pages_zeroed[3]}, {.pointer = &pages_zeroed[4]}, {.pointer = &pages_zeroed[5]},
    {.pointer = &pages_zeroed[6]}, {.pointer = &pages_zeroed[7]}};
