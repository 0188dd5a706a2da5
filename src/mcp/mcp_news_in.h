/* mcp_news_in.h - events that a part has found while it was busy, kept until it may call the host,
   who may free the connection. */
#ifndef PHI_MCP_MCP_NEWS_IN_H
#define PHI_MCP_MCP_NEWS_IN_H

#include "mcp/mcp_in.h"

typedef struct phi__mcp_news {
    phi__list list;
    size_t count, hidden; /* hidden: beyond the most that are kept */
} phi__mcp_news;

/* Copies all; without memory the event is lost. */
PHI__FN void phi__mcp_news_add(phi_mcp *mcp, phi__mcp_news *news, phi_mcp_event_kind kind,
                               phi_str name, phi_str before, phi_str text);
/* Reports all of it. False: the connection was freed by the host, and the news with it. */
PHI__FN bool phi__mcp_news_tell(phi_mcp *mcp, phi__mcp_news *news);
PHI__FN void phi__mcp_news_free(phi_mcp *mcp, phi__mcp_news *news);

#endif
