/* yaml_props.c - properties before a node or a document: anchors, tags, directives. */
#include "formats/yaml_in.h"

#define PHI__YAML_NAME_MOST 1024u /* bytes of an anchor's name or a tag */
#define PHI__YAML_HANDLES_MOST 64u

struct phi__yaml_handle {
    struct phi__yaml_handle *next;
    phi_str handle, prefix; /* "!e!", "tag:example.com,2000:" */
};

/* ---- names ---- */

/* Past the characters up to a blank, in flow content to a bracket; NULL: an error was set. */
static const char *phi__yaml_props_name(phi__yaml_reader *r, const char *at, bool bracket_ends) {
    const char *start = at;
    while (!phi__yaml_is_blank(r, at) && !(bracket_ends && phi__yaml_is_bracket(*at))) {
        size_t n = phi__yaml_text_char(r, at, false);
        if (n == 0) return NULL;
        at += n;
        if ((size_t)(at - start) > PHI__YAML_NAME_MOST) {
            phi__yaml_text_too_big(r, "the name of an anchor or a tag of more than 1024 bytes");
            return NULL;
        }
    }
    return at;
}

static void phi__yaml_props_mark(phi__yaml_reader *r, const char *at) {
    if (r->inner.at != NULL) return;
    r->inner.at = at;
    r->inner.line = r->line;
    r->inner.column = phi__yaml_column(r, at);
}

/* ---- tags ---- */

static uint8_t phi__yaml_props_core_tag(phi_str name) {
    static const char *const names[] = {"str", "int", "float", "bool", "null", "seq", "map"};
    size_t i;
    for (i = 0; i < PHI__COUNT(names); i++)
        if (phi__str_is(name, names[i])) return (uint8_t)(PHI__YAML_TAG_STR + i);
    return PHI__YAML_TAG_NONE;
}

/* The core tag that prefix and rest make together. */
static uint8_t phi__yaml_props_whole(phi_str prefix, phi_str rest) {
    char whole[32];
    static const char core[] = "tag:yaml.org,2002:";
    size_t n = sizeof core - 1, len = prefix.len + rest.len;
    if (len <= n || len > sizeof whole) return PHI__YAML_TAG_NONE;
    memcpy(whole, prefix.at, prefix.len);
    if (rest.len > 0) memcpy(whole + prefix.len, rest.at, rest.len);
    if (memcmp(whole, core, n) != 0) return PHI__YAML_TAG_NONE;
    return phi__yaml_props_core_tag(phi__str(whole + n, len - n));
}

static const struct phi__yaml_handle *phi__yaml_props_handle(const phi__yaml_reader *r,
                                                             phi_str handle) {
    const struct phi__yaml_handle *at = r->handles;
    while (at != NULL && !phi_str_equal(at->handle, handle)) at = at->next;
    return at;
}

/* "!", "!!" or "!name!" at the start. */
static size_t phi__yaml_props_handle_len(phi_str tag) {
    size_t i;
    for (i = 1; i < tag.len; i++) {
        char c = tag.at[i];
        if (c == '!') return i + 1;
        if (!(c == '-' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
              (c >= 'A' && c <= 'Z')))
            break;
    }
    return 1;
}

static bool phi__yaml_props_is_hex(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Whether these are characters of a tag: those of a URI, "!" apart. */
static bool phi__yaml_props_is_uri(phi_str s, bool in_brackets) {
    static const char more[] = "-#;/?:@&=+$_.~*'()%";
    size_t i;
    for (i = 0; i < s.len; i++) {
        char c = s.at[i];
        if (c == '%' && !(i + 2 < s.len && phi__yaml_props_is_hex(s.at[i + 1]) &&
                          phi__yaml_props_is_hex(s.at[i + 2])))
            return false;
        if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) continue;
        if (memchr(more, c, sizeof more - 1) != NULL) continue;
        if (in_brackets && (c == ',' || c == '[' || c == ']' || c == '!')) continue;
        return false;
    }
    return true;
}

/* The tag of a text like "!!str" or "!e!name"; false: an error was set. */
static bool phi__yaml_props_short(phi__yaml_reader *r, phi_str tag, uint8_t *out) {
    size_t n = phi__yaml_props_handle_len(tag);
    phi_str handle = phi__str(tag.at, n), rest = phi__str(tag.at + n, tag.len - n);
    const struct phi__yaml_handle *declared = phi__yaml_props_handle(r, handle);
    if (!phi__yaml_props_is_uri(rest, false)) {
        phi__yaml_text_wrong(r, tag.at, "a tag with a character that tags do not have");
        return false;
    }
    if (n > 1 && rest.len == 0) {
        phi__yaml_text_expected(r, tag.at + n, "a tag's name after its handle");
        return false;
    }
    if (declared != NULL)
        *out = phi__yaml_props_whole(declared->prefix, rest);
    else if (n == 2)
        *out = phi__yaml_props_core_tag(rest);
    else if (n > 2) {
        phi__yaml_text_wrong(r, tag.at, "a tag whose handle no %TAG directive declares");
        return false;
    }
    if (n == 1 && rest.len == 0) *out = PHI__YAML_TAG_TEXT;
    return true;
}

/* The tag of a text like "!<tag:yaml.org,2002:str>". */
static bool phi__yaml_props_verbatim(phi__yaml_reader *r, phi_str tag, uint8_t *out) {
    phi_str whole;
    if (tag.len < 4 || tag.at[tag.len - 1] != '>') {
        phi__yaml_text_expected(r, tag.at + tag.len, "'>' at the end of a verbatim tag");
        return false;
    }
    whole = phi__str(tag.at + 2, tag.len - 3);
    if (!phi__yaml_props_is_uri(whole, true) || phi__str_is(whole, "!")) {
        phi__yaml_text_wrong(r, tag.at, "a verbatim tag that is neither local nor a URI");
        return false;
    }
    *out = phi__yaml_props_whole(whole, phi__str("", 0));
    return true;
}

static void phi__yaml_props_tag(phi__yaml_reader *r, const char *at) {
    bool verbatim = at + 1 < r->end && at[1] == '<', good;
    const char *end = phi__yaml_props_name(r, at, r->flow_depth > 0 && !verbatim);
    const char *close;
    uint8_t tag = PHI__YAML_TAG_NONE;
    if (end == NULL) return;
    if (verbatim) {
        close = (const char *)memchr(at, '>', (size_t)(end - at));
        if (close != NULL && phi__yaml_is_over(r, close + 1)) end = close + 1;
    }
    if (r->inner.tag != 0) {
        phi__yaml_text_wrong(r, at, "a second tag for one node");
        return;
    }
    good = verbatim ? phi__yaml_props_verbatim(r, phi__str(at, (size_t)(end - at)), &tag)
                    : phi__yaml_props_short(r, phi__str(at, (size_t)(end - at)), &tag);
    if (!good) return;
    if (tag == PHI__YAML_TAG_NONE && (r->options.flags & PHI_YAML_ANY_TAG) == 0) {
        phi__yaml_text_wrong(r, at,
                             "a tag that is not of the core schema (!!str, !!int, !!float, "
                             "!!bool, !!null, !!seq, !!map)");
        return;
    }
    phi__yaml_props_mark(r, at);
    r->inner.tag = tag;
    r->at = end;
}

/* ---- anchors ---- */

static void phi__yaml_props_anchor(phi__yaml_reader *r, const char *at) {
    const char *end = phi__yaml_props_name(r, at + 1, r->flow_depth > 0);
    if (end == NULL) return;
    if (end == at + 1) {
        phi__yaml_text_expected(r, end, "the name of an anchor");
        return;
    }
    if (r->inner.anchor_at != NULL) {
        phi__yaml_text_wrong(r, at, "a second anchor for one node");
        return;
    }
    phi__yaml_props_mark(r, at);
    r->inner.anchor_at = at;
    r->inner.anchor = phi__str(at + 1, (size_t)(end - at - 1));
    r->at = end;
}

PHI__FN void phi__yaml_props_read(phi__yaml_reader *r) {
    const char *at = r->at;
    if (*at == '&')
        phi__yaml_props_anchor(r, at);
    else
        phi__yaml_props_tag(r, at);
    if (r->status == PHI_BUSY && !phi__yaml_is_over(r, r->at))
        phi__yaml_text_expected(r, r->at, "white space after an anchor or a tag");
}

PHI__FN void phi__yaml_props_keep(phi__yaml_reader *r) {
    phi__yaml_props *outer = &r->outer, *inner = &r->inner;
    if (inner->at == NULL) return;
    if (outer->at == NULL)
        *outer = *inner;
    else if ((inner->anchor_at != NULL && outer->anchor_at != NULL) ||
             (inner->tag != 0 && outer->tag != 0))
        phi__yaml_text_wrong_at(r, inner->at, inner->line, inner->column,
                                "a second anchor or tag for one node");
    else if (inner->anchor_at != NULL) {
        outer->anchor = inner->anchor;
        outer->anchor_at = inner->anchor_at;
    } else
        outer->tag = inner->tag;
    memset(inner, 0, sizeof *inner);
}

PHI__FN void phi__yaml_props_alias(phi__yaml_reader *r) {
    const char *at = r->at, *end = phi__yaml_props_name(r, at + 1, r->flow_depth > 0);
    if (end == NULL) return;
    if (end == at + 1) {
        phi__yaml_text_expected(r, end, "the name of an anchor after '*'");
        return;
    }
    if (r->inner.at != NULL) {
        phi__yaml_text_wrong(r, at, "an alias cannot have an anchor or a tag");
        return;
    }
    r->at = end;
    phi__yaml_tree_alias(r, phi__str(at + 1, (size_t)(end - at - 1)), at);
}

/* ---- directives ---- */

/* The next word of the line: empty at its end or before a comment. */
static phi_str phi__yaml_props_word(phi__yaml_reader *r) {
    const char *at = r->at, *end;
    while (at < r->end && phi__yaml_is_space(*at)) at++;
    r->at = at;
    if (at < r->end && *at == '#') return phi__str(at, 0);
    end = phi__yaml_props_name(r, at, false);
    if (end != NULL) r->at = end;
    return phi__str(at, end != NULL ? (size_t)(end - at) : 0);
}

static void phi__yaml_props_version(phi__yaml_reader *r) {
    phi_str word = phi__yaml_props_word(r);
    size_t i, points = 0;
    if (r->status != PHI_BUSY) return;
    for (i = 0; i < word.len; i++) {
        if (word.at[i] == '.' && i > 0 && i + 1 < word.len && points == 0)
            points++;
        else if (word.at[i] < '0' || word.at[i] > '9')
            break;
    }
    if (r->has_version)
        phi__yaml_text_wrong(r, word.at, "a second %YAML directive");
    else if (i < word.len || points == 0)
        phi__yaml_text_expected(r, word.at, "a version like 1.2 after %YAML");
    else if (!phi__str_starts(word, "1."))
        phi__yaml_text_wrong(r, word.at, "a version of YAML other than 1");
    r->has_version = true;
}

static bool phi__yaml_props_is_handle(phi_str s) {
    if (s.len == 0 || s.at[0] != '!') return false;
    return phi__yaml_props_handle_len(s) == s.len;
}

static void phi__yaml_props_declare(phi__yaml_reader *r) {
    phi_str handle = phi__yaml_props_word(r), prefix = phi__yaml_props_word(r);
    struct phi__yaml_handle *declared;
    if (r->status != PHI_BUSY) return;
    if (!phi__yaml_props_is_handle(handle)) {
        phi__yaml_text_expected(r, handle.at, "a handle like !name! after %TAG");
        return;
    }
    if (prefix.len == 0 || !phi__yaml_props_is_uri(prefix, true)) {
        phi__yaml_text_expected(r, prefix.at, "a prefix of tags after the handle");
        return;
    }
    if (phi__yaml_props_handle(r, handle) != NULL) {
        phi__yaml_text_wrong(r, handle.at, "a second %TAG directive of this handle");
        return;
    }
    if (r->handle_count++ == PHI__YAML_HANDLES_MOST) {
        phi__yaml_text_too_big(r, "more than 64 %TAG directives");
        return;
    }
    declared = (struct phi__yaml_handle *)phi_arena_alloc(r->arena, sizeof *declared);
    if (declared == NULL) {
        phi__yaml_text_no_memory(r);
        return;
    }
    declared->handle = handle;
    declared->prefix = prefix;
    declared->next = r->handles;
    r->handles = declared;
}

PHI__FN void phi__yaml_props_directive(phi__yaml_reader *r) {
    phi_str name;
    r->at++;
    name = phi__yaml_props_word(r);
    if (r->status != PHI_BUSY) return;
    if (phi__str_is(name, "YAML"))
        phi__yaml_props_version(r);
    else if (phi__str_is(name, "TAG"))
        phi__yaml_props_declare(r);
    else
        r->state = PHI__YAML_COMMENT; /* reserved: skipped */
}
