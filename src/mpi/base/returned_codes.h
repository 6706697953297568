/*! sorrel_set_returned_codes - the codes that a rank's calls return after an error.
 *
 * A translation of another interface of MPI (src/translate) sets it in MPI_Init, so that it need
 * not convert what each call returns. Error handlers get the standard's codes all the same. C and
 * C++. */
#ifndef SORREL_MPI_BASE_RETURNED_CODES_H
#define SORREL_MPI_BASE_RETURNED_CODES_H

#ifdef __cplusplus
extern "C" {
#endif

/* For the calling rank. Null: the standard's codes. */
__attribute__((visibility("hidden"))) void sorrel_set_returned_codes(int (*code_of)(int error));

/* Whether a translation has begun MPI in this process, for all of its ranks. Null where no
 * translation can be: in the library with the standard's names. */
__attribute__((weak, visibility("hidden"))) int sorrel_is_translated_program(void);

#ifdef __cplusplus
}
#endif

#endif
