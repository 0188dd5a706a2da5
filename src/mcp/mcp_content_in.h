/* mcp_content_in.h - content blocks of MCP as content of messages.

   A text is a text, an image an image, audio audio, a binary resource what its type says: an image,
   audio or, if it is a PDF, a document. Other types and links become a text in brackets with type
   and size; a resource of text is its text; an unknown block is its JSON text. */
#ifndef PHI_MCP_MCP_CONTENT_IN_H
#define PHI_MCP_MCP_CONTENT_IN_H

#include "mcp/mcp_in.h"
#include "base/base_in.h"
#include "model/message.h"
#include "text/text_in.h"

/* One block; strings point into the block's tree or the arena. False: no memory. */
PHI__FN bool phi__content_block(const phi_json *block, phi_arena *arena, phi_content *out);

/* An array of blocks, or one block. *out is in the arena; NULL or no container: none. False: no
   memory. */
PHI__FN bool phi__content_read(const phi_json *blocks, phi_arena *arena, phi_content **out,
                               size_t *count);

/* Models take no media of an assistant: each becomes a text, "[image]", "[document]", "[audio]". */
PHI__FN void phi__content_of_assistant(phi_content *content, size_t count);

enum { PHI__MCP_SCHEMA_BYTES = 65536 }; /* of a schema's text */

/* mcp_schema.c: the input schema of a tool, as agents take it. *out: JSON text, terminated, in the
   arena. schema NULL, or JSON's null: an object without properties. PHI_NO_MEMORY; PHI_BAD_ARG,
   PHI_TOO_BIG: no tool can have it, `message` says why. */
PHI__FN phi_status phi__mschema_adapt(const phi_json *schema, phi_arena *arena, phi_str *out,
                                      char *message, size_t size);

#endif
