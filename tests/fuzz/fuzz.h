/* fuzz.h - what every fuzz target defines
 *
 * libFuzzer calls it with inputs that it invents, replay.c with those of the corpus. It
 * aborts when what must always hold does not. */
#pragma once

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
