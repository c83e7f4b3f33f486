#ifndef DM_CVECTORS_H
#define DM_CVECTORS_H

#include <stdint.h>

/* The distance of a slot without a vector. */
enum { DM_NO_VECTOR = 0xFFFF };

/* Computes how many bits of each of `count` codes differ from the code of a query. A code has `words` words. `checks` says
   which slots have a vector: those with a value over 1. */
void dm_distances(const uint64_t *_Nonnull checks, const uint64_t *_Nonnull codes, const uint64_t *_Nonnull query,
                  int words, int count, uint16_t *_Nonnull distances);

/* The sum of the products of two lists of numbers. */
float dm_product(const int8_t *_Nonnull row, const float *_Nonnull query, int count);

#endif
