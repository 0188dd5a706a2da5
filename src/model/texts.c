/* texts.c - phi's texts for models, filled in and recognized. See model_in.h. */
#include "model/model_in.h"

#include "base/base_in.h"

#include <stddef.h>
#include <stdio.h>

enum { PHI__TEXTS_MOST = 4096 }; /* the most bytes of a host's text */

/* All texts lie one after the other in one struct, and all names in another. Offsets of 16 bits
   take a quarter of the space of pointers. */
#define PHI_X(id, name, text) char id##_text[sizeof text];
typedef struct phi__texts_bytes {
    PHI_TEXT_LIST(PHI_X)
} phi__texts_bytes;
#undef PHI_X

#define PHI_X(id, name, text) char id##_name[sizeof #name];
typedef struct phi__texts_names {
    PHI_TEXT_LIST(PHI_X)
} phi__texts_names;
#undef PHI_X

static const char *phi__texts_own(phi_text which) {
#define PHI_X(id, name, text) text,
    static const phi__texts_bytes bytes = {PHI_TEXT_LIST(PHI_X)};
#undef PHI_X
#define PHI_X(id, name, text) (uint16_t) offsetof(phi__texts_bytes, id##_text),
    static const uint16_t places[] = {PHI_TEXT_LIST(PHI_X)};
#undef PHI_X
    return (const char *)&bytes + places[which];
}

static const char *phi__texts_name(phi_text which) {
#define PHI_X(id, name, text) #name,
    static const phi__texts_names bytes = {PHI_TEXT_LIST(PHI_X)};
#undef PHI_X
#define PHI_X(id, name, text) (uint16_t) offsetof(phi__texts_names, id##_name),
    static const uint16_t places[] = {PHI_TEXT_LIST(PHI_X)};
#undef PHI_X
    return (const char *)&bytes + places[which];
}

PHI__FN const char *phi__texts_get(const phi_texts *texts, phi_text which) {
    const char *given = texts != NULL ? texts->at[which] : NULL;
    return given != NULL ? given : phi__texts_own(which);
}

/* ---- holes: {n}, {text}, {name} and {most} ---- */

typedef enum phi__texts_hole {
    PHI__TEXTS_NONE = 0, /* no more holes */
    PHI__TEXTS_N,
    PHI__TEXTS_TEXT,
    PHI__TEXTS_NAME
} phi__texts_hole;

/* Finds the next hole of a template. *before gets the text up to the hole, and *at moves past the
   hole. A hole counts only if phi's own text has it. */
static phi__texts_hole phi__texts_next(phi_text which, const char **at, phi_str *before) {
    static const struct {
        char word[8];
        phi__texts_hole hole;
    } words[] = {{"{n}", PHI__TEXTS_N},
                 {"{text}", PHI__TEXTS_TEXT},
                 {"{name}", PHI__TEXTS_NAME},
                 {"{most}", PHI__TEXTS_NAME}};
    const char *from = *at;
    size_t i;
    for (const char *brace = strchr(from, '{'); brace != NULL; brace = strchr(brace + 1, '{'))
        for (i = 0; i < PHI__COUNT(words); i++) {
            size_t n = strlen(words[i].word);
            if (strncmp(brace, words[i].word, n) != 0 ||
                strstr(phi__texts_own(which), words[i].word) == NULL)
                continue;
            *before = phi__str(from, (size_t)(brace - from));
            *at = brace + n;
            return words[i].hole;
        }
    *before = phi_str_of(from);
    *at = from + before->len;
    return PHI__TEXTS_NONE;
}

PHI__FN void phi__texts_put(phi__buf *out, const phi_texts *texts, phi_text which,
                            const phi__texts_args *args) {
    const char *at = phi__texts_get(texts, which);
    phi__texts_hole hole = PHI__TEXTS_N;
    phi_str before;
    while (hole != PHI__TEXTS_NONE) {
        hole = phi__texts_next(which, &at, &before);
        phi__buf_add_str(out, before);
        if (hole == PHI__TEXTS_N) phi__buf_u64(out, args->n);
        if (hole == PHI__TEXTS_TEXT) phi__buf_add_str(out, args->text);
        if (hole == PHI__TEXTS_NAME) phi__buf_add_str(out, args->name);
    }
}

PHI__FN bool phi__texts_make(phi_arena *arena, const phi_texts *texts, phi_text which,
                             const phi__texts_args *args, phi_str *out) {
    phi__buf text;
    phi__buf_init(&text, arena->memory);
    phi__texts_put(&text, texts, which, args);
    bool done = !text.failed && phi__arena_str(arena, phi__buf_str(&text), out);
    phi__buf_free(&text);
    return done;
}

PHI__FN bool phi__texts_make_n(phi_arena *arena, const phi_texts *texts, phi_text which, uint64_t n,
                               phi_str *out) {
    phi__texts_args args = PHI_ZERO;
    args.n = n;
    return phi__texts_make(arena, texts, which, &args, out);
}

/* ---- recognizing texts ---- */

static bool phi__texts_take(phi_str *text, phi_str what) {
    if (text->len < what.len || (what.len > 0 && memcmp(text->at, what.at, what.len) != 0))
        return false;
    *text = phi__str(text->at + what.len, text->len - what.len);
    return true;
}

static bool phi__texts_fits(const phi_texts *texts, phi_text which, phi_text name, phi_str text,
                            uint64_t *n) {
    const char *at = phi__texts_get(texts, which);
    phi_str before;
    size_t digits, all = text.len;
    *n = 1;
    for (;;) {
        phi__texts_hole hole = phi__texts_next(which, &at, &before);
        if (!phi__texts_take(&text, before)) return false;
        switch (hole) {
        case PHI__TEXTS_N:
            for (digits = 0; digits < text.len && text.at[digits] >= '0' && text.at[digits] <= '9';)
                digits++;
            if (!phi__str_to_u64(phi__str(text.at, digits), n)) return false;
            text = phi__str_from(text, digits);
            break;
        case PHI__TEXTS_NAME:
            if (!phi__texts_take(&text, phi_str_of(phi__texts_get(texts, name)))) return false;
            break;
        /* anything may follow the template's own words */
        case PHI__TEXTS_TEXT: return text.len < all;
        case PHI__TEXTS_NONE: return text.len == 0;
        }
    }
}

PHI__FN bool phi__texts_is(const phi_texts *texts, phi_text which, phi_text name, phi_str text,
                           uint64_t *n) {
    return phi__texts_fits(texts, which, name, text, n) ||
           phi__texts_fits(NULL, which, name, text, n);
}

/* ---- checking and copying a host's texts ---- */

static const char *phi__texts_fault(phi_text which, phi_str text) {
    bool line = which >= PHI_TEXT_SUMMARY && which <= PHI_TEXT_SUMMARY_LEFT_OUT;
    if (text.len == 0 || text.len > PHI__TEXTS_MOST || phi__utf8_valid(text) != text.len)
        return "expected 1 to 4,096 bytes of UTF-8";
    if (strstr(phi__texts_own(which), "{text}") != NULL && strstr(text.at, "{text}") == NULL)
        return "{text} is missing";
    return line && memchr(text.at, '\n', text.len) != NULL ? "expected one line" : NULL;
}

PHI__FN const char *phi__texts_check(const phi_texts *texts, char *words, size_t words_size) {
    for (int i = 0; texts != NULL && i < (int)PHI_TEXT_COUNT; i++) {
        const char *fault =
            texts->at[i] != NULL ? phi__texts_fault((phi_text)i, phi_str_of(texts->at[i])) : NULL;
        if (fault == NULL) continue;
        (void)snprintf(words, words_size, "texts.%s: %s", phi__texts_name((phi_text)i), fault);
        return words;
    }
    return NULL;
}

PHI__FN phi_texts *phi__texts_copy(const phi_texts *texts, phi_arena *arena) {
    phi_texts *copy = (phi_texts *)phi__arena_zero(arena, sizeof *copy);
    for (size_t i = 0; copy != NULL && i < PHI_TEXT_COUNT; i++) {
        phi_str text;
        if (texts->at[i] == NULL) continue;
        if (!phi__arena_str(arena, phi_str_of(texts->at[i]), &text)) return NULL;
        copy->at[i] = text.at;
    }
    return copy;
}

/* ---- public ---- */

PHI_API const char *phi_text_default(phi_text which, const char **name) {
    bool there = (unsigned)which < (unsigned)PHI_TEXT_COUNT;
    if (name != NULL) *name = there ? phi__texts_name(which) : "";
    return there ? phi__texts_own(which) : NULL;
}
