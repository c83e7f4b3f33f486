/* The loops of a search by meaning, which visit each message. In C, because Swift cannot ask for an instruction that not all
   processors have, and checks each index in a build for tests. */
#include "CVectors.h"

#if defined(__x86_64__)
/* Used on processors that count the bits of a word in one instruction, which are all since about 2008. */
#define DM_COUNTING __attribute__((target("popcnt")))
#else
#define DM_COUNTING
#endif

static inline __attribute__((always_inline)) void distances(const uint64_t *checks, const uint64_t *codes,
                                                            const uint64_t *query, int words, int count,
                                                            uint16_t *distances) {
  for (int slot = 0; slot < count; slot++, codes += words) {
    int differing = 0;
    for (int word = 0; word < words; word++) differing += __builtin_popcountll(codes[word] ^ query[word]);
    distances[slot] = checks[slot] > 1 ? (uint16_t)differing : DM_NO_VECTOR;
  }
}

DM_COUNTING static void counting_distances(const uint64_t *checks, const uint64_t *codes, const uint64_t *query, int words,
                                           int count, uint16_t *found) {
  /* With a constant, the compiler unrolls the inner loop: most models have 256, 384 or 768 dimensions. */
  if (words == 4) return distances(checks, codes, query, 4, count, found);
  if (words == 6) return distances(checks, codes, query, 6, count, found);
  distances(checks, codes, query, words, count, found);
}

void dm_distances(const uint64_t *checks, const uint64_t *codes, const uint64_t *query, int words, int count,
                  uint16_t *found) {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("popcnt")) return distances(checks, codes, query, words, count, found);
#endif
  counting_distances(checks, codes, query, words, count, found);
}

float dm_product(const int8_t *row, const float *query, int count) {
  float sum = 0;
  for (int index = 0; index < count; index++) sum += (float)row[index] * query[index];
  return sum;
}
