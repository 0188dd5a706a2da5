/* fuzz_wire_anthropic.c - any bytes as an Anthropic stream, or as a whole answer. */
#include "fuzz/fuzz_wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return fuzz_wire(PHI_PROTOCOL_ANTHROPIC, data, size);
}
