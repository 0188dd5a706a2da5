/* mcp_resources.c - lists of resources and templates, and reading. */
#include "mcp/mcp_get_in.h"

#include "loop/error_in.h"
#include "loop/loop_in.h"
#include "mcp/mcp_offers_in.h"

enum { PHI__MCP_RESOURCES_CONTENTS = 1000 }; /* of one resource */

static phi_str phi__mcp_resources_text(const phi_json *node, const char *key) {
    return phi__json_text_of(phi_json_get(node, key));
}

static phi_mcp_resource phi__mcp_resources_one(const phi_json *item) {
    phi_mcp_resource out;
    memset(&out, 0, sizeof out);
    out.uri = phi__mcp_resources_text(item, "uri");
    if (out.uri.len == 0) out.uri = phi__mcp_resources_text(item, "uriTemplate");
    out.name = phi__mcp_resources_text(item, "name");
    out.title = phi__mcp_resources_text(item, "title");
    out.description = phi__mcp_resources_text(item, "description");
    out.mime_type = phi__mcp_resources_text(item, "mimeType");
    out.size = phi__json_get_uint(phi_json_get(item, "size"), 0);
    out.json = item;
    return out;
}

static void phi__mcp_resources_listed(phi__mcp_offer *offer, const phi_mcp_reply *reply) {
    phi_mcp_resource *made = (phi_mcp_resource *)phi__arena_zero(
        &offer->arena, (offer->count + 1) * sizeof(phi_mcp_resource));
    phi_mcp_got list;
    size_t i;
    memset(&list, 0, sizeof list);
    list.status = made != NULL ? reply->status : PHI_NO_MEMORY;
    list.message = reply->message;
    list.code = reply->code;
    list.more = offer->pages.cut;
    for (i = 0; made != NULL && i < offer->count; i++) {
        made[list.count] = phi__mcp_resources_one(offer->items[i]);
        if (made[list.count].uri.len > 0) list.count++;
    }
    list.resources = made;
    phi__mcp_offers_tell(offer, &list);
}

static void phi__mcp_resources_read(phi__mcp_offer *offer, const phi_mcp_reply *reply) {
    const phi_json *contents = phi_json_get(reply->result, "contents");
    size_t all = phi_json_is(contents, PHI_JSON_ARRAY) ? phi_json_count(contents) : 0;
    bool many = all > PHI__MCP_RESOURCES_CONTENTS;
    size_t count = many ? 0 : all;
    phi_json_iter it = phi_json_each(count > 0 ? contents : NULL);
    phi_mcp_contents *made =
        (phi_mcp_contents *)phi__arena_zero(&offer->arena, (count + 1) * sizeof(phi_mcp_contents));
    phi_mcp_got reading;
    memset(&reading, 0, sizeof reading);
    reading.status = made != NULL ? reply->status : PHI_NO_MEMORY;
    reading.message = reply->message;
    reading.code = reply->code;
    if (many && made != NULL) {
        reading.status = PHI_TOO_BIG;
        reading.message = PHI__LIT("The resource has more than 1,000 contents");
    }
    while (made != NULL && phi_json_next(&it) != NULL) {
        phi_mcp_contents *to = &made[reading.count++];
        to->uri = phi__mcp_resources_text(it.at, "uri");
        to->mime_type = phi__mcp_resources_text(it.at, "mimeType");
        to->text = phi__mcp_resources_text(it.at, "text");
        to->blob = phi__mcp_resources_text(it.at, "blob");
    }
    reading.contents = made;
    phi__mcp_offers_tell(offer, &reading);
}

/* ---- their beginnings ---- */

PHI__FN phi_status phi__mcp_resources_list(phi_mcp *mcp, const phi_mcp_get_desc *desc,
                                           uint64_t *id) {
    bool plain = desc->what == PHI_MCP_GET_RESOURCES;
    return phi__mcp_offers_list(mcp, plain ? "resources/list" : "resources/templates/list",
                                plain ? "resources" : "resourceTemplates",
                                phi__mcp_resources_listed, desc, id);
}

PHI__FN phi_status phi__mcp_resources_get(phi_mcp *mcp, const phi_mcp_get_desc *desc,
                                          uint64_t *id) {
    phi_status status;
    phi__buf params;
    if (desc->uri == NULL || desc->uri[0] == '\0') return PHI_BAD_ARG;
    phi__buf_init(&params, phi__mcp_session_memory(mcp));
    phi__buf_text(&params, "{\"uri\":");
    phi__json_write_str(&params, phi_str_of(desc->uri));
    phi__buf_char(&params, '}');
    status = params.failed
                 ? PHI_NO_MEMORY
                 : phi__mcp_offers_ask(mcp, "resources/read", phi__buf_str(&params),
                                       phi_str_of(desc->uri), phi__mcp_resources_read, desc, id);
    phi__buf_free(&params);
    return status;
}
