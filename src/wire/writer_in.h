/* writer_in.h - the answer's writer is the assembly that our own decoders write into. */
#ifndef PHI_WIRE_WRITER_IN_H
#define PHI_WIRE_WRITER_IN_H

#include "wire/assembly_in.h"
#include "wire/writer.h"

static inline phi_answer *phi__writer_of(phi__assembly *assembly) { return (phi_answer *)assembly; }

#endif
