/* encode_in.h - the settings of a request that not every target takes: which ones, and how the
   codecs write them. */
#ifndef PHI_WIRE_ENCODE_IN_H
#define PHI_WIRE_ENCODE_IN_H

#include "wire/codec_in.h"

enum {
    PHI__TAKES_SAMPLING = PHI__TAKES_TEMPERATURE | PHI__TAKES_TOP_P | PHI__TAKES_TOP_K,
    PHI__TAKES_ALL = PHI__TAKES_SAMPLING | PHI__TAKES_STOP | PHI__TAKES_SEED | PHI__TAKES_TIER |
                     PHI__TAKES_SERIAL,
    PHI__TAKES_STOP_MOST = 16
};

/* The keys of a protocol; NULL: the protocol has none, or writes it elsewhere. */
typedef struct phi__takes_keys {
    const char *temperature, *top_p, *top_k, *stop, *seed, *tier;
} phi__takes_keys;

/* Writes the settings that are set and that `takes` has, each as ,"key":value, into the scratch
   buffer. */
PHI__FN void phi__takes_put(phi__encoder *e, const phi__takes_keys *keys, uint32_t takes);

/* True when the request asks for one call at a time, has tools to call, and the target can. */
PHI__FN bool phi__takes_serial(const phi__request_spec *spec, uint32_t takes);

/* Adds the scratch buffer as a piece, then the raw tool as it is. */
PHI__FN void phi__takes_put_raw(phi__encoder *e, const phi__tool_view *tool);

/* A tool of the request is deferred, or was: the target's tool search has to be among them. */
PHI__FN bool phi__takes_deferred(const phi__request_spec *spec);

/* Finds the next tool that the result of Claude's tool search names, from *at on, and advances *at
   past it. False: there is none. */
PHI__FN bool phi__takes_reference(const phi_content *block, size_t *at, phi_str *name);

/* The level of thinking that is sent for the wanted one. */
PHI__FN phi_thinking phi__takes_level(const phi__codec *codec, const phi__request_spec *spec);

/* A copy in the arena. False: no memory. */
PHI__FN bool phi__takes_copy(phi_arena *arena, const phi_request_options *from,
                             phi_request_options *out);

/* A fault of options: NULL, or words ("options.top_p: expected ..."). */
PHI__FN const char *phi__takes_fault(const phi_request_options *options);

/* PHI_OK: the target takes every setting of the request. PHI_UNSUPPORTED: `words` name each that is
   left out or lowered: "top_k is not sent; seed is not sent". */
PHI__FN phi_status phi__takes_preflight(const phi__codec *codec, const phi__request_spec *spec,
                                        char *words, size_t words_size);

#endif
