/* citations.c - reads the providers' shapes of citations. */
#include "model/citations.h"

#include "text/json_in.h"

typedef struct phi__citations {
    phi_arena *arena;
    phi_citation *out; /* NULL: they are counted */
    size_t count;
    bool no_memory;
} phi__citations;

/* The sources of a grounding, so that each is found at once. */
typedef struct phi__citations_chunks {
    const phi_json **at;
    size_t count;
} phi__citations_chunks;

static void phi__citations_add(phi__citations *list, const phi_citation *c) {
    if (c->url.len == 0 && c->title.len == 0 && c->text.len == 0) return;
    if (list->out != NULL) list->out[list->count] = *c;
    list->count++;
}

/* The first of several members that is a string; NULL ends their names. */
static phi_str phi__citations_str(const phi_json *node, const char *const *names) {
    for (; *names != NULL; names++) {
        const phi_json *member = phi_json_get(node, *names);
        if (phi_json_is(member, PHI_JSON_STRING)) return phi_json_str(member, "");
    }
    return phi__str("", 0);
}

static bool phi__citations_range(phi_citation *c, const phi_json *node, const char *start,
                                 const char *end) {
    const phi_json *from = phi_json_get(node, start), *to = phi_json_get(node, end);
    if (from == NULL && to == NULL) return false;
    c->start = (size_t)phi__json_get_uint(from, 0); /* Google leaves 0 out */
    c->end = (size_t)phi__json_get_uint(to, c->start);
    c->has_range = true;
    return true;
}

/* Ranges of a document: Anthropic's in the citation itself, Bedrock's in a place. */
static void phi__citations_place(phi_citation *c, const phi_json *node) {
    static const char *const places[] = {"documentChar", "documentPage", "documentChunk",
                                         "searchResultLocation"};
    const phi_json *location = phi_json_get(node, "location");
    size_t i;
    c->in_source = phi__citations_range(c, node, "start_char_index", "end_char_index") ||
                   phi__citations_range(c, node, "start_page_number", "end_page_number") ||
                   phi__citations_range(c, node, "start_block_index", "end_block_index");
    for (i = 0; i < PHI__COUNT(places) && !c->in_source; i++)
        c->in_source = phi__citations_range(c, phi_json_get(location, places[i]), "start", "end");
}

/* The text of Bedrock's first part. */
static phi_str phi__citations_source_text(const phi_json *node) {
    phi_json_iter it = phi_json_each(phi_json_get(node, "sourceContent"));
    return phi_json_str(phi_json_get(phi_json_next(&it), "text"), "");
}

/* One source, or one place of it: all shapes but Google's groundings. */
static void phi__citations_plain(phi__citations *list, const phi_json *node) {
    static const char *const inside[] = {
        "url_citation", "file_citation", "document_citation", "web", "retrievedContext", "maps",
        "image",        "file"};
    static const char *const urls[] = {"url", "uri", "document_uri", "sourceUri", "source", NULL};
    static const char *const titles[] = {"title",     "document_title", "filename",
                                         "file_name", "name",           NULL};
    static const char *const texts[] = {"cited_text", "text", "content", NULL};
    static const char *const web[] = {"url", NULL};
    phi_citation c = PHI_ZERO;
    const phi_json *member;
    size_t i;
    for (i = 0; i < PHI__COUNT(inside); i++) {
        member = phi_json_get(node, inside[i]);
        if (!phi_json_is(member, PHI_JSON_OBJECT)) continue;
        node = member;
        break;
    }
    c.url = phi__citations_str(phi_json_get(phi_json_get(node, "location"), "web"), web);
    if (c.url.len == 0) c.url = phi__citations_str(node, urls);
    c.title = phi__citations_str(node, titles);
    c.text = phi__citations_str(node, texts);
    if (c.text.len == 0) c.text = phi__citations_source_text(node);
    phi__citations_place(&c, node);
    if (!c.in_source && !phi__citations_range(&c, node, "start_index", "end_index") &&
        !phi__citations_range(&c, node, "startIndex", "endIndex"))
        (void)phi__citations_range(&c, node, "index", "index");
    phi__citations_add(list, &c);
}

/* A part of the answer and the sources that support it, by their place in the list. */
static void phi__citations_support(phi__citations *list, const phi_json *support,
                                   const phi__citations_chunks *chunks) {
    static const char *const kinds[] = {"web", "retrievedContext", "maps", "image"};
    static const char *const urls[] = {"uri", "sourceUri", NULL};
    static const char *const titles[] = {"title", NULL};
    static const char *const texts[] = {"text", NULL};
    const phi_json *segment = phi_json_get(support, "segment"), *index;
    phi_json_iter it = phi_json_each(phi_json_get(support, "groundingChunkIndices"));
    while ((index = phi_json_next(&it)) != NULL) {
        uint64_t place = phi__json_get_uint(index, UINT64_MAX);
        const phi_json *chunk = place < chunks->count ? chunks->at[place] : NULL;
        phi_citation c = PHI_ZERO;
        size_t i;
        for (i = 0; i < PHI__COUNT(kinds); i++) {
            const phi_json *source = phi_json_get(chunk, kinds[i]);
            if (!phi_json_is(source, PHI_JSON_OBJECT)) continue;
            c.url = phi__citations_str(source, urls);
            c.title = phi__citations_str(source, titles);
            break;
        }
        c.text = phi__citations_str(segment, texts);
        (void)phi__citations_range(&c, segment, "startIndex", "endIndex");
        phi__citations_add(list, &c);
    }
}

static void phi__citations_each(phi__citations *list, const phi_json *array) {
    phi_json_iter it = phi_json_each(array);
    const phi_json *node;
    while ((node = phi_json_next(&it)) != NULL) phi__citations_plain(list, node);
}

static void phi__citations_supports(phi__citations *list, const phi_json *supports,
                                    const phi_json *chunks) {
    phi_arena_mark mark = phi_arena_save(list->arena);
    phi_json_iter it = phi_json_each(chunks);
    const phi_json *node;
    phi__citations_chunks table;
    if (phi_json_count(supports) == 0) return;
    table.count = 0;
    table.at = (const phi_json **)phi_arena_alloc(
        list->arena, phi__mul(phi__max(phi_json_count(chunks), 1), sizeof *table.at));
    if (table.at == NULL) {
        list->no_memory = true;
        return;
    }
    while ((node = phi_json_next(&it)) != NULL) table.at[table.count++] = node;
    it = phi_json_each(supports);
    while ((node = phi_json_next(&it)) != NULL) phi__citations_support(list, node, &table);
    phi_arena_reset(list->arena, mark);
}

/* Google's metadata of a candidate; false: it is none. */
static bool phi__citations_google(phi__citations *list, const phi_json *node) {
    static const char *const lists[] = {"citationSources", "citations"};
    const phi_json *grounding = phi_json_get(node, "groundingMetadata");
    const phi_json *metadata = phi_json_get(node, "citationMetadata"), *chunks, *supports;
    size_t before = list->count, i;
    bool is = grounding != NULL || metadata != NULL;
    if (grounding == NULL) grounding = node;
    if (metadata == NULL) metadata = node;
    chunks = phi_json_get(grounding, "groundingChunks");
    supports = phi_json_get(grounding, "groundingSupports");
    is = is || phi_json_is(chunks, PHI_JSON_ARRAY) || phi_json_is(supports, PHI_JSON_ARRAY);
    phi__citations_supports(list, supports, chunks);
    if (list->count == before) phi__citations_each(list, chunks); /* sources of all of it */
    for (i = 0; i < PHI__COUNT(lists); i++) {
        const phi_json *sources = phi_json_get(metadata, lists[i]);
        is = is || phi_json_is(sources, PHI_JSON_ARRAY);
        phi__citations_each(list, sources);
    }
    return is;
}

static void phi__citations_read(phi__citations *list, const phi_json *root) {
    phi_json_iter it = phi_json_each(root);
    const phi_json *node;
    list->count = 0;
    while ((node = phi_json_next(&it)) != NULL)
        if (phi_json_is(node, PHI_JSON_OBJECT) && !phi__citations_google(list, node))
            phi__citations_plain(list, node);
}

/* ---- public ---- */

PHI_API phi_status phi_citations(const phi_content *content, phi_arena *arena,
                                 const phi_citation **out, size_t *count) {
    phi__citations list = PHI_ZERO;
    phi_json *root = NULL;
    phi_arena_mark mark;
    phi_status status;
    if (content == NULL || arena == NULL || out == NULL || count == NULL) return PHI_BAD_ARG;
    *out = NULL;
    *count = 0;
    if (content->citations.len == 0) return PHI_OK;
    mark = phi_arena_save(arena);
    status = phi_json_parse(arena, content->citations, PHI_JSON_REPLACE_BAD_UTF8, &root, NULL);
    if (status == PHI_OK && !phi_json_is(root, PHI_JSON_ARRAY)) status = PHI_PARSE;
    if (status == PHI_OK) {
        list.arena = arena;
        phi__citations_read(&list, root);
        list.out = (phi_citation *)phi_arena_alloc(
            arena, phi__mul(phi__max(list.count, 1), sizeof *list.out));
        if (list.out != NULL) phi__citations_read(&list, root);
        if (list.out == NULL || list.no_memory) status = PHI_NO_MEMORY;
    }
    if (status != PHI_OK) {
        phi_arena_reset(arena, mark);
        return status == PHI_NO_MEMORY ? status : PHI_PARSE;
    }
    *out = list.out;
    *count = list.count;
    return PHI_OK;
}
