/* json_members_in.h - the members of an object that a pull scan keeps: a table says which, and
   where in a struct they go.

       static const phi__json_member list[] = {
           PHI__MEMBER(struct event, type, "type", PHI__MEMBER_TEXT),
           PHI__MEMBER_INSIDE("delta", &delta_members)};
       static const phi__json_members members = {list, PHI__COUNT(list)};

       memset(&event, 0, sizeof event);
       good = phi__json_members_read(data, &members, &event, NULL);

   A member that is missing, null or of another type leaves its place as it was, but for RAW and BY;
   of equal names the last one counts. All other members are skipped. A function (BY) reads members
   that a table cannot describe. */
#ifndef PHI_TEXT_JSON_MEMBERS_IN_H
#define PHI_TEXT_JSON_MEMBERS_IN_H

#include "text/json_cursor_in.h"

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
