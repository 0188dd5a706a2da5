/* reader_in.h - a phi_reader inside: the head of each format's struct, and what the format does. */
#ifndef PHI_FORMATS_READER_IN_H
#define PHI_FORMATS_READER_IN_H

#include "formats/formats_in.h"
#include "formats/reader.h"

struct phi_reader {
    phi_status (*advance)(phi_reader *reader, size_t units);
    phi_status (*result)(const phi_reader *reader, phi_json **out, phi_parse_error *error);
};

#endif
