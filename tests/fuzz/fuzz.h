/* fuzz.h - a fuzz target: one function that takes any bytes and must not misbehave
 *
 * Built with libFuzzer (option `fuzz`) it is fed by the fuzzer; else replay.c gives it the
 * files of its corpus, so that what was once found stays mended. */
#pragma once

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);
