/* citations.h - citations: the sources of an answer's text.

   Each provider has its own form of citations, and phi_content.citations keeps that form unchanged.
   phi_citations reads the forms of Anthropic, Bedrock, OpenAI, Gemini and servers that copy
   these. */
#ifndef PHI_MODEL_CITATIONS_H
#define PHI_MODEL_CITATIONS_H

#include "base/arena.h"
#include "model/message.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One citation. Fields that a citation does not have are empty. */
typedef struct phi_citation {
    phi_str url;   /* the source's address; for a search result that a program gave, its name */
    phi_str title; /* the title, or the file's name */
    /* the words of the source, or the words of the answer that the source supports */
    phi_str text;
    /* The range in the provider's units, `end` excluded: characters for OpenAI, bytes for Google.
       If the source is a document in the request, the range is in that document: characters, pages
       from 1, or blocks. */
    size_t start, end;
    bool has_range;
    /* true: the range is in the document; false: the range is in the answer's text */
    bool in_source;
} phi_citation;

/* Reads the citations of a block, in the provider's order, into an array in the arena. A citation
   is left out if phi can read none of its fields. If the block has no citations, returns PHI_OK and
   *count is 0. PHI_BAD_ARG: a pointer is NULL. PHI_PARSE: content->citations is not a JSON array.
   PHI_NO_MEMORY. After an error *count is 0. Threads: any. */
PHI_API phi_status phi_citations(const phi_content *content, phi_arena *arena,
                                 const phi_citation **out, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
