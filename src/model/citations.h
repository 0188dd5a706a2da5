/* citations.h - the citations of a text: the sources of an answer's words.

   Each provider has another shape, which phi_content.citations keeps as it came; phi_citations
   reads the shapes of Anthropic, Bedrock, OpenAI, Gemini and servers that copy them. */
#ifndef PHI_MODEL_CITATIONS_H
#define PHI_MODEL_CITATIONS_H

#include "base/arena.h"
#include "model/message.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a citation does not have is empty. */
typedef struct phi_citation {
    phi_str url;   /* the source's address; or its name, of a search result that a program gave */
    phi_str title; /* or the file's name */
    phi_str text;  /* the words of the source, or those that it supports */
    /* The range as the provider counts it, the end excluded: OpenAI in characters, Google in bytes.
       A citation of a document in the request has a range of that document: characters, pages from
       1, or blocks. */
    size_t start, end;
    bool has_range;
    bool in_source; /* the range is the document's, not this text's */
} phi_citation;

/* The citations of a block, in the provider's order, as an array in the arena; those that say
   nothing that phi reads are left out. A block without citations has none: PHI_OK, *count 0.
   PHI_BAD_ARG: a pointer is NULL. PHI_PARSE: content->citations is no JSON array. PHI_NO_MEMORY.
   After an error *count is 0. Threads: any. */
PHI_API phi_status phi_citations(const phi_content *content, phi_arena *arena,
                                 const phi_citation **out, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
