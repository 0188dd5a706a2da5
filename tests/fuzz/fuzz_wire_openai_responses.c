/* fuzz_wire_openai_responses.c - any bytes as a Responses stream, or as a whole answer. */
#include "fuzz/fuzz_wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return fuzz_wire(PHI_PROTOCOL_OPENAI_RESPONSES, data, size);
}
