/* mcp_content_in.h - turns content blocks of MCP into content of messages.

   Texts, images and audio keep their kind. A binary resource becomes an image, audio or, if it is a
   PDF, a document. A text resource becomes its text. Links and other types become a text in
   brackets with type and size. Unknown blocks become their JSON text. */
#ifndef PHI_MCP_MCP_CONTENT_IN_H
#define PHI_MCP_MCP_CONTENT_IN_H

#include "mcp/mcp_in.h"
#include "base/base_in.h"
#include "model/message.h"
#include "text/text_in.h"

/* Reads one block. Strings point into the block's tree or the arena. False: no memory. */
PHI__FN bool phi__content_block(const phi_json *block, phi_arena *arena, phi_content *out);

/* Reads an array of blocks, or one block, into the arena. For any other value, *count is 0. False:
   no memory. */
PHI__FN bool phi__content_read(const phi_json *blocks, phi_arena *arena, phi_content **out,
                               size_t *count);

/* Replaces media by "[image]", "[document]" or "[audio]", because models accept no media from an
   assistant. */
PHI__FN void phi__content_of_assistant(phi_content *content, size_t count);

enum { PHI__MCP_SCHEMA_BYTES = 65536 }; /* max. bytes of a schema's text */

/* Adapts the input schema of a tool for agents. *out: JSON text, terminated, in the arena. If
   schema is NULL or JSON's null, *out is an object without properties. PHI_BAD_ARG, PHI_TOO_BIG:
   the schema is unusable; `message` tells why. (mcp_schema.c) */
PHI__FN phi_status phi__mschema_adapt(const phi_json *schema, phi_arena *arena, phi_str *out,
                                      char *message, size_t size);

#endif
