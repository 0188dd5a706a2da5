/* json_cursor_in.h - a pull scan over JSON text without a tree: how stream decoders read deltas.

       phi__json_cursor c;
       phi__json_text key, type;
       phi__json_cursor_init(&c, text);
       if (phi__json_cursor_enter_object(&c))
           while (phi__json_cursor_next_key(&c, &key)) {
               if (phi__json_cursor_text_is(key, PHI__LIT("type"))) phi__json_cursor_take_text(&c,
               &type); else phi__json_cursor_skip(&c);
           }
       if (c.bad) ... // broken text: checked once, at the end

   Every value is consumed by exactly one take, enter or skip. A take or enter of another type than
   the value has skips the value and returns false: null and surprises need no code. After broken
   text `bad` is set and every call returns false. Skipped values are checked for closing strings
   and brackets, not for their grammar. Nothing is allocated and nothing is copied. */
#ifndef PHI_TEXT_JSON_CURSOR_IN_H
#define PHI_TEXT_JSON_CURSOR_IN_H

#include "text/json_in.h"

typedef struct phi__json_cursor {
    const char *at, *end; /* borrowed text */
    bool first;           /* a container was just entered: no comma yet */
    bool bad;
} phi__json_cursor;

/* The raw bytes between two quotes. */
typedef struct phi__json_text {
    const char *at;
    size_t len;
    bool escaped;
} phi__json_text;

PHI__FN void phi__json_cursor_init(phi__json_cursor *c, phi_str text);

/* The type of the value to come; PHI_JSON_NONE: there is none. */
PHI__FN phi_json_type phi__json_cursor_peek(phi__json_cursor *c);

/* Consume the value and return true: it is entered, and its keys or items are to be pulled until
   false. */
PHI__FN bool phi__json_cursor_enter_object(phi__json_cursor *c);
PHI__FN bool phi__json_cursor_enter_array(phi__json_cursor *c);

/* The next key, its value to be consumed next; false: the object ended (and is consumed) or bad. */
PHI__FN bool phi__json_cursor_next_key(phi__json_cursor *c, phi__json_text *key);

/* True: an item is to be consumed next. */
PHI__FN bool phi__json_cursor_next_item(phi__json_cursor *c);
PHI__FN bool phi__json_cursor_skip(phi__json_cursor *c);

/* Skips the value and returns all of it, as it stands there. */
PHI__FN bool phi__json_cursor_take_raw(phi__json_cursor *c, phi_str *out);

/* Leave *out as it was unless they return true. */
PHI__FN bool phi__json_cursor_take_text(phi__json_cursor *c, phi__json_text *out);
PHI__FN bool phi__json_cursor_take_i64(phi__json_cursor *c, int64_t *out); /* also 3.0 */
PHI__FN bool phi__json_cursor_take_u64(phi__json_cursor *c, uint64_t *out);
PHI__FN bool phi__json_cursor_take_num(phi__json_cursor *c, double *out);
PHI__FN bool phi__json_cursor_take_bool(phi__json_cursor *c, bool *out);

/* All of the text was consumed and none of it was bad. */
PHI__FN bool phi__json_cursor_done(phi__json_cursor *c);

/* Appends the text, unescaped; lone surrogates, wrong escapes and bytes that are not UTF-8 become
   U+FFFD. */
PHI__FN void phi__json_cursor_unescape(phi__buf *out, phi__json_text text);

/* The same into the arena, terminated; a text that needs no change is copied too. */
PHI__FN bool phi__json_cursor_unescape_arena(phi_arena *arena, phi__json_text text, phi_str *out);

/* Compares with a text that has no escapes; an escaped spelling of it is equal too. */
PHI__FN bool phi__json_cursor_text_same(phi__json_text text, phi_str plain);

static inline bool phi__json_cursor_text_is(phi__json_text text, phi_str plain) {
    if (!text.escaped) return text.len == plain.len && memcmp(text.at, plain.at, plain.len) == 0;
    return phi__json_cursor_text_same(text, plain);
}

typedef enum phi__json_member_kind {
    PHI__MEMBER_TEXT, /* phi__json_text */
    PHI__MEMBER_I64,
    PHI__MEMBER_U64,
    PHI__MEMBER_BOOL,
    PHI__MEMBER_RAW,    /* phi_str: JSON of any type; empty, where it is broken */
    PHI__MEMBER_SOME,   /* the same, unless it is null */
    PHI__MEMBER_OBJECT, /* the same of an object alone */
    PHI__MEMBER_ARRAY,  /* and of an array */
    PHI__MEMBER_IN,     /* an object, whose members another table has */
    PHI__MEMBER_FIRST,  /* an array, of which the first item is such an object */
    PHI__MEMBER_BY      /* what a function takes: it consumes the value */
} phi__json_member_kind;

typedef struct phi__json_member {
    const char *name;
    const struct phi__json_members *inner; /* IN, FIRST */
    void (*take)(phi__json_cursor *c, void *at);
    uint16_t offset;
    uint8_t len, kind;
} phi__json_member;

/* At most 32. */
typedef struct phi__json_members {
    const phi__json_member *at;
    size_t count;
} phi__json_members;

#define PHI__MEMBER(type, field, name, kind)                                                       \
    { (name), NULL, NULL, (uint16_t)offsetof(type, field), (uint8_t)(sizeof(name) - 1), (kind) }

/* An object whose members go into the same struct. */
#define PHI__MEMBER_INSIDE(name, inner)                                                            \
    { (name), (inner), NULL, 0, (uint8_t)(sizeof(name) - 1), PHI__MEMBER_IN }
#define PHI__MEMBER_INSIDE_FIRST(name, inner)                                                      \
    { (name), (inner), NULL, 0, (uint8_t)(sizeof(name) - 1), PHI__MEMBER_FIRST }

/* A function that gets a field's address, or that of the whole struct. */
#define PHI__MEMBER_TAKE(type, field, name, take)                                                  \
    {                                                                                              \
        (name), NULL, (take), (uint16_t)offsetof(type, field), (uint8_t)(sizeof(name) - 1),        \
            PHI__MEMBER_BY                                                                         \
    }
#define PHI__MEMBER_TAKE_ALL(name, take)                                                           \
    { (name), NULL, (take), 0, (uint8_t)(sizeof(name) - 1), PHI__MEMBER_BY }

/* Consumes a value, and keeps of an object what the table has. Returns a bit for each member of the
   table that was there, of whatever type. */
PHI__FN uint32_t phi__json_members_take(phi__json_cursor *c, const phi__json_members *members,
                                        void *to);

/* The same of a text that must be one whole object: false, where it is not. `seen` may be NULL. */
PHI__FN bool phi__json_members_read(phi_str text, const phi__json_members *members, void *to,
                                    uint32_t *seen);

#endif
