/* fuzz_wire_gemini_interactions.c - any bytes as a stream of Google's Interactions API, or as a whole
   answer. */
#include "fuzz/fuzz_wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return fuzz_wire(PHI_PROTOCOL_INTERACTIONS, data, size);
}
