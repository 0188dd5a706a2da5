/* records_in.h - plain fields of a struct as members of a JSON object, and back: a table says
   which.

       static const phi__field fields[] = {
           PHI__FIELD(struct game, name, "name", PHI__FIELD_STR, PHI__FIELD_ALWAYS),
           PHI__FIELD(struct game, lives, "lives", PHI__FIELD_UINT, PHI__FIELD_SET)};

       phi__records_put(&buf, fields, PHI__COUNT(fields), &game);            // "name":"x","lives":3
       good = phi__records_get(node, fields, PHI__COUNT(fields), &game, NULL);

   Members stand in the table's order. Members that a table cannot describe (lists, numbers that
   depend on others, names of their own) are written in code, between two tables or with the
   functions for one member. Keys are literals. */
#ifndef PHI_TEXT_RECORDS_IN_H
#define PHI_TEXT_RECORDS_IN_H

#include "text/json_in.h"

typedef enum phi__field_kind {
    PHI__FIELD_STR, /* phi_str */
    PHI__FIELD_BOOL,
    /* Any integer or enum that is not negative. A value too large for it becomes its largest. */
    PHI__FIELD_UINT,
    PHI__FIELD_DOUBLE,
    /* int64_t, Unix milliseconds; in JSON a date and time in UTC. */
    PHI__FIELD_TIME
} phi__field_kind;

/* How an empty string, false and zero are written. */
typedef enum phi__field_rule {
    PHI__FIELD_ALWAYS, /* written as it is */
    PHI__FIELD_SET,    /* left out */
    PHI__FIELD_OPTION  /* null */
} phi__field_rule;

typedef struct phi__field {
    const char *key;
    uint16_t offset;
    uint8_t size, kind, rule;
} phi__field;

#define PHI__FIELD(type, member, key, kind, rule)                                                  \
    {                                                                                              \
        (key), (uint16_t)offsetof(type, member), (uint8_t)sizeof(((type *)0)->member), (kind),     \
            (rule)                                                                                 \
    }

/* Appends the members, each with the comma before it that it needs. */
PHI__FN void phi__records_put(phi__buf *out, const phi__field *fields, size_t count,
                              const void *from);
/* Sets every field of the table: a member that is missing or of another type gives empty, false or
   zero. Strings are borrowed from the tree, or copied where there is an arena. False: no memory for
   one. */
PHI__FN bool phi__records_get(const phi_json *node, const phi__field *fields, size_t count,
                              void *to, phi_arena *arena);

/* One member. */
PHI__FN void phi__records_str(phi__buf *out, const char *key, phi_str value);
PHI__FN void phi__records_option(phi__buf *out, const char *key, phi_str value); /* empty: null */
PHI__FN void phi__records_some(phi__buf *out, const char *key, phi_str value); /* empty: nothing */
PHI__FN void phi__records_u64(phi__buf *out, const char *key, uint64_t n);
PHI__FN void phi__records_i64(phi__buf *out, const char *key, int64_t n);
PHI__FN void phi__records_double(phi__buf *out, const char *key, double d);
PHI__FN void phi__records_bool(phi__buf *out, const char *key, bool b);
PHI__FN void phi__records_true(phi__buf *out, const char *key, bool b); /* false: nothing */
PHI__FN void phi__records_time(phi__buf *out, const char *key, int64_t ms);
/* The key and JSON as it stands: "null", or the bracket that opens a value. */
PHI__FN void phi__records_raw(phi__buf *out, const char *key, const char *json);

/* One member of a tree; missing or of another type: zero, "", false. A number that is too large:
   the largest. */
PHI__FN uint64_t phi__records_get_u64(const phi_json *node, const char *key);
PHI__FN uint32_t phi__records_get_u32(const phi_json *node, const char *key);
PHI__FN size_t phi__records_get_size(const phi_json *node, const char *key);
PHI__FN double phi__records_get_double(const phi_json *node, const char *key);
PHI__FN bool phi__records_get_bool(const phi_json *node, const char *key);
PHI__FN phi_str phi__records_get_str(const phi_json *node, const char *key);
PHI__FN int64_t phi__records_get_time(const phi_json *node, const char *key);

#endif
