/* mcp_news.c - events kept until the host may be called. */
#include "mcp/mcp_news_in.h"

#include <stdio.h>

enum { PHI__MCP_NEWS_MOST = 256 }; /* events kept; a hostile list has thousands of faults */

/* Its strings stand behind it. */
typedef struct phi__mcp_news_item {
    phi__link link;
    size_t bytes;
    phi_mcp_event_kind kind;
    phi_str name, before, text;
} phi__mcp_news_item;

static phi_str phi__mcp_news_put(char **at, phi_str from) {
    phi_str copy = phi__str(*at, from.len);
    if (from.len > 0) memcpy(*at, from.at, from.len);
    (*at)[from.len] = '\0';
    *at += from.len + 1;
    return copy;
}

PHI__FN void phi__mcp_news_add(phi_mcp *mcp, phi__mcp_news *news, phi_mcp_event_kind kind,
                               phi_str name, phi_str before, phi_str text) {
    size_t bytes = phi__add(sizeof(phi__mcp_news_item) + 3,
                            phi__add(name.len, phi__add(before.len, text.len)));
    phi__mcp_news_item *item;
    char *at;
    if (phi__mcp_session_desc(mcp)->event_fn == NULL) return;
    if (news->count == PHI__MCP_NEWS_MOST) {
        news->hidden++;
        return;
    }
    item = (phi__mcp_news_item *)phi__alloc(phi__mcp_session_memory(mcp), bytes);
    if (item == NULL) return;
    item->bytes = bytes;
    item->kind = kind;
    at = (char *)(item + 1);
    item->name = phi__mcp_news_put(&at, name);
    item->before = phi__mcp_news_put(&at, before);
    item->text = phi__mcp_news_put(&at, text);
    phi__list_push(&news->list, &item->link);
    news->count++;
}

static phi__mcp_news_item *phi__mcp_news_take(phi__mcp_news *news) {
    phi__mcp_news_item *item;
    if (news->list.first == NULL) return NULL;
    item = PHI__OWNER(news->list.first, phi__mcp_news_item, link);
    phi__list_take(&news->list, &item->link);
    news->count--;
    return item;
}

PHI__FN bool phi__mcp_news_tell(phi_mcp *mcp, phi__mcp_news *news) {
    phi__mcp_news_item *item;
    size_t hidden = news->hidden;
    char words[80];
    phi_str none = phi__str("", 0);
    news->hidden = 0;
    while ((item = phi__mcp_news_take(news)) != NULL) {
        bool alive = phi__mcp_session_tell(mcp, item->kind, item->name, item->before, item->text);
        if (!alive) {
            /* the part is gone, its memory is not: the session frees itself when this returns */
            phi__free(phi__mcp_session_memory(mcp), item, item->bytes);
            return false;
        }
        phi__free(phi__mcp_session_memory(mcp), item, item->bytes);
    }
    if (hidden == 0) return true;
    (void)snprintf(words, sizeof words, "%lu more events of its lists were left out",
                   (unsigned long)hidden);
    return phi__mcp_session_tell(mcp, PHI_MCP_EV_WARNING, none, none, phi_str_of(words));
}

PHI__FN void phi__mcp_news_free(phi_mcp *mcp, phi__mcp_news *news) {
    phi__mcp_news_item *item;
    while ((item = phi__mcp_news_take(news)) != NULL)
        phi__free(phi__mcp_session_memory(mcp), item, item->bytes);
}
