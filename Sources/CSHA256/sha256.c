/* SHA-256 with the instructions of the processor. In C, because Swift has no functions for them, and cannot compile one function
   for a processor that not all users have. */
#include "CSHA256.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

/* The SHA extensions, and the instructions of SSE that go with them here (Intel, Software Developer's Manual, CPUID). */
static int has_instructions(void) {
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_SSSE3) || !(c & bit_SSE4_1)) return 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & bit_SHA;
}

__attribute__((target("sha,ssse3,sse4.1"))) static void add(uint32_t *state, const uint32_t *constants,
                                                            const unsigned char *bytes, size_t blocks) {
  const __m128i reversed = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
  __m128i *stored = (__m128i *)state;
  /* The instructions take the words as a, b, e, f and c, d, g, h, the last of them first. */
  __m128i low = _mm_shuffle_epi32(_mm_loadu_si128(stored), 0xb1), high = _mm_shuffle_epi32(_mm_loadu_si128(stored + 1), 0x1b);
  __m128i abef = _mm_alignr_epi8(low, high, 8), cdgh = _mm_blend_epi16(high, low, 0xf0);
  for (; blocks > 0; blocks--, bytes += 64) {
    __m128i words[4], abef_before = abef, cdgh_before = cdgh;
#pragma clang loop unroll(full)
    for (int group = 0; group < 16; group++) {
      __m128i *word = words + group % 4, *last = words + (group + 3) % 4;
      if (group < 4)
        *word = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)bytes + group), reversed);
      else
        *word = _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(*word, words[(group + 1) % 4]),
                                                   _mm_alignr_epi8(*last, words[(group + 2) % 4], 4)),
                                     *last);
      __m128i sum = _mm_add_epi32(*word, _mm_loadu_si128((const __m128i *)constants + group));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  low = _mm_shuffle_epi32(abef, 0x1b);
  high = _mm_shuffle_epi32(cdgh, 0xb1);
  _mm_storeu_si128(stored, _mm_blend_epi16(low, high, 0xf0));
  _mm_storeu_si128(stored + 1, _mm_alignr_epi8(high, low, 8));
}
#endif

int dm_sha256_add(uint32_t *state, const uint32_t *constants, const void *bytes, size_t blocks) {
#if defined(__x86_64__)
  if (has_instructions()) {
    add(state, constants, bytes, blocks);
    return 1;
  }
#endif
  return 0;
}
