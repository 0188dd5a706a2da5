/* bedrock_document.c - documents of Amazon Bedrock's ConverseStream, and their names.

   The API takes few characters in a name, and no name twice in a request. A rendering is kept with
   its message, so the name depends on nothing that a later request changes. */
#include "codecs/bedrock_in.h"

#include "wire/hash_in.h"
#include "wire/render_in.h"

enum {
    PHI__BEDROCK_DOCUMENT_TITLE_MOST = 60, /* bytes of a document's title in its name */
    PHI__BEDROCK_DOCUMENT_HASHED_MOST =
        1024 /* bytes of a document that its name depends on, at each end */
};

/* A distinct number for each document of a request, from its content, its place in the thread and
   its place among the documents of its message. */
static uint64_t phi__bedrock_document_hash(const phi__encoder *e, const phi_content *c, size_t at,
                                           size_t ordinal) {
    phi_str bytes = c->data.len > 0 ? c->data : c->text;
    size_t n = phi__min(bytes.len, (size_t)PHI__BEDROCK_DOCUMENT_HASHED_MOST);
    uint64_t hash = phi__hash(c->name, e->spec->items[at].from * 64 + ordinal);
    hash = phi__hash(phi__str(bytes.at, n), hash ^ bytes.len);
    return phi__hash(phi__str(bytes.at + bytes.len - n, n), hash);
}

/* Letters, digits, hyphens, brackets and single blanks only; an ending such as ".pdf" is left
   out. */
static void phi__bedrock_document_name(phi__buf *out, const phi_content *c, uint64_t hash) {
    size_t len = c->name.len, i, n = 0;
    char digits[17];
    bool blank = true;
    for (i = len; i > 1 && len - i < 5; i--)
        if (c->name.at[i - 1] == '.') {
            len = i - 1;
            break;
        }
    for (i = 0; i < len && n < PHI__BEDROCK_DOCUMENT_TITLE_MOST; i++) {
        char ch = c->name.at[i];
        bool fits = (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
                    (ch >= '0' && ch <= '9') || ch == '-' || ch == '(' || ch == ')' || ch == '[' ||
                    ch == ']';
        if (!fits && blank) continue;
        phi__buf_char(out, fits ? ch : ' ');
        blank = !fits;
        n++;
    }
    if (n == 0) phi__buf_text(out, "document");
    if (n == 0 || !blank) phi__buf_char(out, ' ');
    phi__hash_hex(hash, digits);
    phi__buf_add(out, digits, 8);
}

PHI__FN void phi__bedrock_document_put(phi__encoder *e, const phi_content *c, size_t at,
                                       size_t ordinal) {
    const char *format = c->data.len > 0 ? phi__render_ending(c->mime_type) : "txt";
    phi__buf *out = &e->scratch;
    phi__json_write_comma(out);
    phi__buf_text(out, "{\"document\":{");
    phi__render_member(out, "format", phi_str_of(format));
    phi__buf_text(out, ",\"name\":\"");
    phi__bedrock_document_name(out, c, phi__bedrock_document_hash(e, c, at, ordinal));
    phi__buf_text(out, "\",\"source\":{");
    if (c->data.len > 0) {
        phi__buf_text(out, "\"bytes\":\"");
        phi__render_base64(e, c->data);
        phi__buf_text(out, "\"}}}");
    } else {
        phi__render_text_member(e, "text", c->text);
        phi__buf_text(out, "}}}");
    }
}
