/* mcp_post.c - the queue before the link. */
#include "mcp/mcp_post_in.h"

#include "mcp/mcp_rpc_in.h"

static void phi__mcp_post_free(phi_mcp *mcp, phi__mcp_item *item) {
    phi__buf_free(&item->json);
    phi__free(&mcp->memory, item, sizeof *item);
}

static phi_status phi__mcp_post_now(phi_mcp *mcp, phi__mcp_item *item) {
    phi_status status = mcp->link->table->send(mcp->link, &item->out);
    item->sent = status == PHI_OK;
    return status;
}

static void phi__mcp_post_queue(phi_mcp *mcp, phi__mcp_item *item, bool first) {
    item->waits = true;
    if (item->owned) mcp->queue.owned++;
    if (first)
        phi__list_push_first(&mcp->queue.waiting, &item->link);
    else
        phi__list_push(&mcp->queue.waiting, &item->link);
}

PHI__FN phi_status phi__mcp_post_item(phi_mcp *mcp, phi__mcp_item *item, bool first) {
    phi_status status = PHI_FULL;
    if (first || mcp->queue.waiting.first == NULL) status = phi__mcp_post_now(mcp, item);
    if (status != PHI_FULL) return status;
    phi__mcp_post_queue(mcp, item, first);
    return PHI_OK;
}

PHI__FN void phi__mcp_post_hold(phi_mcp *mcp, phi__mcp_item *item) {
    phi__mcp_post_queue(mcp, item, false);
}

PHI__FN void phi__mcp_post_take(phi_mcp *mcp, phi__mcp_item *item) {
    if (!item->waits) return;
    phi__list_take(&mcp->queue.waiting, &item->link);
    item->waits = false;
    if (item->owned) mcp->queue.owned--;
}

PHI__FN phi_status phi__mcp_post_text(phi_mcp *mcp, phi__buf *json, phi_str method, bool first) {
    phi__mcp_item *item = NULL;
    phi_status status = PHI_NO_MEMORY;
    if (mcp->queue.owned >= PHI__MCP_POST_OWNED)
        status = PHI_FULL;
    else if (!json->failed)
        item = (phi__mcp_item *)phi__alloc(&mcp->memory, sizeof *item);
    if (item == NULL) {
        phi__buf_free(json);
        return status;
    }
    item->owned = true;
    item->json = *json;
    item->out.json = phi__buf_str(&item->json);
    item->out.method = method;
    status = phi__mcp_post_item(mcp, item, first);
    if (!item->waits) phi__mcp_post_free(mcp, item);
    return status;
}

PHI__FN phi_status phi__mcp_post_notification(phi_mcp *mcp, const char *method, phi_str params,
                                              bool first) {
    phi__buf json;
    phi__buf_init(&json, &mcp->memory);
    phi__mcp_rpc_notification(&json, method, params);
    return phi__mcp_post_text(mcp, &json, phi_str_of(method), first);
}

PHI__FN phi__mcp_item *phi__mcp_post_flush(phi_mcp *mcp, bool all, phi_status *status) {
    while (mcp->queue.waiting.first != NULL) {
        phi__mcp_item *item = PHI__OWNER(mcp->queue.waiting.first, phi__mcp_item, link);
        if (!all && !item->owned && !item->early) return NULL;
        *status = phi__mcp_post_now(mcp, item);
        if (*status == PHI_FULL) return NULL;
        phi__mcp_post_take(mcp, item);
        if (item->owned)
            phi__mcp_post_free(mcp, item);
        else if (*status != PHI_OK)
            return item;
    }
    return NULL;
}

PHI__FN void phi__mcp_post_clear(phi_mcp *mcp) {
    phi__link *link = mcp->queue.waiting.first;
    while (link != NULL) {
        phi__mcp_item *item = PHI__OWNER(link, phi__mcp_item, link);
        link = link->next;
        if (!item->owned) continue;
        phi__mcp_post_take(mcp, item);
        phi__mcp_post_free(mcp, item);
    }
}
