#pragma once
#include <stddef.h>
#include <stdint.h>

/* Adds whole blocks of 64 bytes to the state of a SHA-256, with the instructions that processors have for it.
   Returns 0 and changes nothing if this processor has none.
   state: eight words. constants: the 64 words of FIPS 180-4, section 4.2.2. */
int dm_sha256_add(uint32_t *state, const uint32_t *constants, const void *bytes, size_t blocks);
