/* mcp_prompts.c - lists of prompts, prompts as messages, completion of arguments. */
#include "mcp/mcp_get_in.h"

#include "loop/error_in.h"
#include "loop/loop_in.h"
#include "mcp/mcp_content_in.h"
#include "mcp/mcp_offers_in.h"

enum {
    PHI__MCP_PROMPTS_MESSAGES = 1000,
    PHI__MCP_PROMPTS_ARGUMENTS = 100, /* of one prompt */
    PHI__MCP_PROMPTS_VALUES = 100
};

static phi_str phi__mcp_prompts_text(const phi_json *node, const char *key) {
    return phi__json_text_of(phi_json_get(node, key));
}

/* ---- lists ---- */

static bool phi__mcp_prompts_one(const phi_json *item, phi_arena *arena, phi_mcp_prompt *out) {
    const phi_json *list = phi_json_get(item, "arguments");
    size_t all = phi_json_is(list, PHI_JSON_ARRAY) ? phi_json_count(list) : 0;
    size_t count = phi__min(all, PHI__MCP_PROMPTS_ARGUMENTS);
    phi_json_iter it = phi_json_each(count > 0 ? list : NULL);
    phi_mcp_prompt_argument *made = (phi_mcp_prompt_argument *)phi__arena_zero(
        arena, (count + 1) * sizeof(phi_mcp_prompt_argument));
    if (made == NULL) return false;
    memset(out, 0, sizeof *out);
    out->name = phi__mcp_prompts_text(item, "name");
    out->title = phi__mcp_prompts_text(item, "title");
    out->description = phi__mcp_prompts_text(item, "description");
    out->arguments = made;
    while (out->argument_count < count && phi_json_next(&it) != NULL) {
        phi_mcp_prompt_argument *to = &made[out->argument_count++];
        to->name = phi__mcp_prompts_text(it.at, "name");
        to->title = phi__mcp_prompts_text(it.at, "title");
        to->description = phi__mcp_prompts_text(it.at, "description");
        to->required = phi_json_bool(phi_json_get(it.at, "required"), false);
    }
    return true;
}

static void phi__mcp_prompts_listed(phi__mcp_offer *offer, const phi_mcp_reply *reply) {
    phi_mcp_prompt *made = (phi_mcp_prompt *)phi__arena_zero(
        &offer->arena, (offer->count + 1) * sizeof(phi_mcp_prompt));
    phi_mcp_got list;
    size_t i;
    memset(&list, 0, sizeof list);
    list.status = made != NULL ? reply->status : PHI_NO_MEMORY;
    list.message = reply->message;
    list.code = reply->code;
    list.more = offer->pages.cut;
    for (i = 0; made != NULL && i < offer->count; i++) {
        if (!phi__mcp_prompts_one(offer->items[i], &offer->arena, &made[list.count])) {
            list.status = PHI_NO_MEMORY;
            break;
        }
        if (made[list.count].name.len > 0) list.count++;
    }
    list.prompts = made;
    phi__mcp_offers_tell(offer, &list);
}

/* ---- one prompt ---- */

static bool phi__mcp_prompts_messages(const phi_json *list, phi_arena *arena, phi_mcp_got *out) {
    size_t all = phi_json_is(list, PHI_JSON_ARRAY) ? phi_json_count(list) : 0;
    phi_json_iter it = phi_json_each(all > 0 ? list : NULL);
    size_t count = phi__min(all, PHI__MCP_PROMPTS_MESSAGES);
    phi_message *made = (phi_message *)phi__arena_zero(arena, (count + 1) * sizeof(phi_message));
    if (made == NULL) return false;
    out->messages = made;
    while (out->count < count && phi_json_next(&it) != NULL) {
        phi_message *to = &made[out->count];
        phi_content *content;
        if (!phi__mcp_content_read(phi_json_get(it.at, "content"), arena, &content,
                                   &to->content_count))
            return false;
        if (to->content_count == 0) continue; /* a message says something */
        out->count++;
        to->content = content;
        to->role = PHI_ROLE_USER;
        if (!phi__str_is(phi__mcp_prompts_text(it.at, "role"), "assistant")) continue;
        to->role = PHI_ROLE_ASSISTANT;
        to->stop_reason = PHI_STOP_REASON_STOP;
        phi__mcp_content_of_assistant(content, to->content_count);
    }
    return true;
}

static void phi__mcp_prompts_got(phi__mcp_offer *offer, const phi_mcp_reply *reply) {
    phi_mcp_got prompted;
    memset(&prompted, 0, sizeof prompted);
    prompted.status = reply->status;
    prompted.message = reply->message;
    prompted.code = reply->code;
    prompted.description = phi__mcp_prompts_text(reply->result, "description");
    if (!phi__mcp_prompts_messages(phi_json_get(reply->result, "messages"), &offer->arena,
                                   &prompted)) {
        prompted.status = PHI_NO_MEMORY;
        prompted.count = 0;
    }
    phi__mcp_offers_tell(offer, &prompted);
}

/* ---- completion ---- */

static void phi__mcp_prompts_completed(phi__mcp_offer *offer, const phi_mcp_reply *reply) {
    const phi_json *from = phi_json_get(reply->result, "completion");
    const phi_json *values = phi_json_get(from, "values");
    phi_json_iter it = phi_json_each(phi_json_is(values, PHI_JSON_ARRAY) ? values : NULL);
    phi_str texts[PHI__MCP_PROMPTS_VALUES];
    phi_mcp_got out;
    memset(&out, 0, sizeof out);
    out.status = reply->status;
    out.message = reply->message;
    out.code = reply->code;
    while (out.count < PHI__COUNT(texts) && phi_json_next(&it) != NULL)
        if (phi_json_is(it.at, PHI_JSON_STRING)) texts[out.count++] = phi__json_text_of(it.at);
    out.values = texts;
    out.total = phi__json_get_uint(phi_json_get(from, "total"), 0);
    out.more = it.left > 0 || phi_json_bool(phi_json_get(from, "hasMore"), false);
    phi__mcp_offers_tell(offer, &out);
}

/* ---- their beginnings ---- */

/* {"a":"1"}; an array of pairs without names or values is left out of it. */
static void phi__mcp_prompts_pairs(phi__buf *out, const phi_mcp_pair *pairs, size_t count) {
    size_t i;
    phi__buf_char(out, '{');
    for (i = 0; i < count; i++) {
        if (pairs[i].name == NULL || pairs[i].value == NULL) continue;
        phi__json_write_key(out, phi_str_of(pairs[i].name));
        phi__json_write_str(out, phi_str_of(pairs[i].value));
    }
    phi__buf_char(out, '}');
}

PHI__FN phi_status phi__mcp_prompts_list(phi_mcp *mcp, const phi_mcp_get_desc *desc, uint64_t *id) {
    return phi__mcp_offers_list(mcp, "prompts/list", "prompts", phi__mcp_prompts_listed, desc, id);
}

PHI__FN phi_status phi__mcp_prompts_get(phi_mcp *mcp, const phi_mcp_get_desc *desc, uint64_t *id) {
    phi_status status;
    phi__buf params;
    if (desc->name == NULL || desc->name[0] == '\0') return PHI_BAD_ARG;
    phi__buf_init(&params, phi__mcp_session_memory(mcp));
    phi__buf_text(&params, "{\"name\":");
    phi__json_write_str(&params, phi_str_of(desc->name));
    if (desc->argument_count > 0) {
        phi__buf_text(&params, ",\"arguments\":");
        phi__mcp_prompts_pairs(&params, desc->arguments, desc->argument_count);
    }
    phi__buf_char(&params, '}');
    status = params.failed
                 ? PHI_NO_MEMORY
                 : phi__mcp_offers_ask(mcp, "prompts/get", phi__buf_str(&params),
                                       phi_str_of(desc->name), phi__mcp_prompts_got, desc, id);
    phi__buf_free(&params);
    return status;
}

static void phi__mcp_prompts_completing(const phi_mcp_get_desc *desc, phi__buf *params) {
    phi__buf_text(params, desc->name != NULL ? "{\"ref\":{\"type\":\"ref/prompt\",\"name\":"
                                             : "{\"ref\":{\"type\":\"ref/resource\",\"uri\":");
    phi__json_write_str(params, phi_str_of(desc->name != NULL ? desc->name : desc->uri));
    phi__buf_text(params, "},\"argument\":{\"name\":");
    phi__json_write_str(params, phi_str_of(desc->argument));
    phi__buf_text(params, ",\"value\":");
    phi__json_write_str(params, phi_str_of(desc->value != NULL ? desc->value : ""));
    phi__buf_char(params, '}');
    if (desc->argument_count > 0) {
        phi__buf_text(params, ",\"context\":{\"arguments\":");
        phi__mcp_prompts_pairs(params, desc->arguments, desc->argument_count);
        phi__buf_char(params, '}');
    }
    phi__buf_char(params, '}');
}

PHI__FN phi_status phi__mcp_prompts_complete(phi_mcp *mcp, const phi_mcp_get_desc *desc,
                                             uint64_t *id) {
    phi_status status;
    phi__buf params;
    if (desc->argument == NULL || (desc->name == NULL) == (desc->uri == NULL)) return PHI_BAD_ARG;
    phi__buf_init(&params, phi__mcp_session_memory(mcp));
    phi__mcp_prompts_completing(desc, &params);
    status = params.failed
                 ? PHI_NO_MEMORY
                 : phi__mcp_offers_ask(mcp, "completion/complete", phi__buf_str(&params),
                                       phi__str(NULL, 0), phi__mcp_prompts_completed, desc, id);
    phi__buf_free(&params);
    return status;
}
