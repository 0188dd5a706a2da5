/* openai_chat_calls.c - tool calls that a model wrote as text, read.

   Forms: {"name":...,"arguments":{...}}, alone, several, or in an array, also with the names that
   other templates give their members; <function=name><parameter=key>value</parameter></function>;
   name[ARGS]{...}. Either all of a text is calls or none of it. docs/local_models.md. */
#include "codecs/openai_chat_in.h"

#include "wire/repair_in.h"

typedef struct phi__openai_chat_made {
    phi_str name, arguments;
} phi__openai_chat_made;

/* Calls of one text before they become blocks. */
typedef struct phi__openai_chat_read {
    phi__assembly *a;
    phi_arena *arena; /* the assembly's scratch */
    bool repairs;     /* PHI_QUIRK_REPAIR_CALLS */
    bool known;       /* names must be tools' */
    bool failed;      /* no memory */
    size_t count, cap;
    phi__openai_chat_made *made; /* in the arena */
} phi__openai_chat_read;

static size_t phi__openai_chat_calls_tool(const phi__openai_chat_read *r, phi_str name) {
    return r->repairs ? phi__repair_tool(r->a->tools, r->a->tool_count, name)
                      : phi__repair_tool_of(r->a->tools, r->a->tool_count, name);
}

/* Keeps a call. False: it is none of a known tool, there are too many, or no memory. */
static bool phi__openai_chat_calls_keep(phi__openai_chat_read *r, phi_str name, phi_str arguments) {
    phi__openai_chat_made *made = r->made;
    name = phi__str_trim(name);
    if (name.len == 0 || (r->known && phi__openai_chat_calls_tool(r, name) == SIZE_MAX) ||
        r->count == PHI__ASSEMBLY_BLOCKS_MOST)
        return false;
    if (r->count == r->cap) {
        r->cap = r->cap * 2 + 4;
        made = (phi__openai_chat_made *)phi_arena_alloc(r->arena, r->cap * sizeof *made);
        if (made == NULL) {
            r->failed = true;
            return false;
        }
        if (r->count > 0) memcpy(made, r->made, r->count * sizeof *made);
        r->made = made;
    }
    made[r->count].name = name;
    made[r->count++].arguments = arguments;
    return true;
}

/* The text of a buffer, in the arena; the buffer is freed. */
static bool phi__openai_chat_calls_text(phi__openai_chat_read *r, phi__buf *buf, phi_str *out) {
    bool kept = !buf->failed && phi__arena_str(r->arena, phi__buf_str(buf), out);
    if (!kept) r->failed = true;
    phi__buf_free(buf);
    return kept;
}

/* ---- objects ---- */

static const phi_json *phi__openai_chat_calls_member(const phi_json *node, const char *const *names,
                                                     size_t count) {
    size_t i;
    for (i = 0; i < count; i++) {
        const phi_json *member = phi_json_get(node, names[i]);
        if (member != NULL && !phi_json_is(member, PHI_JSON_NULL)) return member;
    }
    return NULL;
}

static bool phi__openai_chat_calls_node(phi__openai_chat_read *r, const phi_json *node) {
    static const char *const names[] = {"name", "tool_name", "tool", "function"};
    static const char *const values[] = {"arguments", "parameters", "args", "input", "tool_input"};
    const phi_json *name = phi__openai_chat_calls_member(node, names, PHI__COUNT(names)), *value;
    phi_str arguments = PHI_ZERO;
    phi__buf buf;
    if (phi_json_is(name, PHI_JSON_OBJECT)) { /* {"type":"function","function":{...}} */
        node = name;
        name = phi_json_get(node, "name");
    }
    if (!phi_json_is(name, PHI_JSON_STRING)) return false;
    value = phi__openai_chat_calls_member(node, values, PHI__COUNT(values));
    if (value == NULL && r->known) return false; /* data with a member `name` */
    if (phi_json_is(value, PHI_JSON_STRING))
        arguments = phi_json_str(value, "");
    else if (value != NULL) {
        phi__buf_init(&buf, r->a->memory);
        if (phi__json_write(&buf, value, 0) == PHI_NO_MEMORY) r->failed = true;
        if (!phi__openai_chat_calls_text(r, &buf, &arguments)) return false;
    }
    return phi__openai_chat_calls_keep(r, phi_json_str(name, ""), arguments);
}

/* One value of the text as a tree. False: it is broken. */
static bool phi__openai_chat_calls_value(phi__openai_chat_read *r, const char **at, const char *end,
                                         phi_json **out) {
    const char *from = *at;
    uint32_t faults = 0;
    phi_status status;
    phi_str text;
    phi__buf buf;
    bool read;
    phi__buf_init(&buf, r->a->memory);
    read = phi__repair_value(&buf, at, end, &faults) && (faults == 0 || r->repairs);
    if (buf.failed) r->failed = true;
    if (!read) {
        phi__buf_free(&buf);
        return false;
    }
    text = phi__str(from, (size_t)(*at - from));
    if (!phi__openai_chat_calls_text(r, &buf, &text)) return false;
    status = phi_json_parse(r->arena, text, PHI_JSON_REPLACE_BAD_UTF8, out, NULL);
    if (status == PHI_NO_MEMORY) r->failed = true;
    return status == PHI_OK;
}

/* Objects and arrays of them, with blanks, commas and semicolons between. */
static bool phi__openai_chat_calls_json(phi__openai_chat_read *r, phi_str text) {
    const char *at = text.at, *end = text.at + text.len;
    for (;;) {
        phi_json *node = NULL;
        phi_json_iter it;
        const phi_json *item;
        while (at < end && strchr(" \n\t\r;,", *at) != NULL && *at != '\0') at++;
        if (at == end) return r->count > 0;
        if (*at != '{' && *at != '[') return false;
        if (!phi__openai_chat_calls_value(r, &at, end, &node)) return false;
        if (phi_json_is(node, PHI_JSON_OBJECT)) {
            if (!phi__openai_chat_calls_node(r, node)) return false;
            continue;
        }
        it = phi_json_each(node);
        while ((item = phi_json_next(&it)) != NULL)
            if (!phi_json_is(item, PHI_JSON_OBJECT) || !phi__openai_chat_calls_node(r, item))
                return false;
    }
}

/* ---- functions with parameters ---- */

/* The declared type of a tool's parameter; "": none, or more than one. */
static phi_str phi__openai_chat_calls_type(const phi_json *schema, phi_str key, bool *declared) {
    phi_json_iter it = phi_json_each(phi_json_get(schema, "properties"));
    const phi_json *property;
    while ((property = phi_json_next(&it)) != NULL) {
        if (!phi_str_equal(it.key, key)) continue;
        *declared = phi_json_is(property, PHI_JSON_OBJECT);
        return phi_json_str(phi_json_get(property, "type"), "");
    }
    return phi_str_of("");
}

/* Appends the text between the tags, without the line feeds next to them: as JSON if the schema
   declares another type than a string and the text is JSON, else as a string. */
static void phi__openai_chat_calls_put(phi__openai_chat_read *r, phi__buf *out, phi_str value,
                                       const phi_json *schema, phi_str key) {
    bool declared = false;
    phi_str type = phi__openai_chat_calls_type(schema, key, &declared), trimmed;
    size_t from = out->len;
    const char *at;
    uint32_t faults = 0;
    if (value.len > 0 && value.at[0] == '\n') value = phi__str(value.at + 1, value.len - 1);
    if (value.len > 0 && value.at[value.len - 1] == '\n') value.len--;
    trimmed = phi__str_trim(value);
    at = trimmed.at;
    if (declared && !phi__str_is(type, "string") && trimmed.len > 0 && trimmed.at[0] != '\'' &&
        phi__repair_value(out, &at, trimmed.at + trimmed.len, &faults) &&
        at == trimmed.at + trimmed.len &&
        (faults == 0 || faults == PHI__REPAIR_PYTHON || r->repairs))
        return;
    out->len = from;
    phi__json_write_str(out, value);
}

/* The place of a word in a text, from a place on. Later looks for it begin at the place found, so
   all looks together read the text once. */
static size_t phi__openai_chat_calls_next(phi_str text, size_t from, const char *word,
                                          size_t *found) {
    if (*found != SIZE_MAX && *found < from) *found = phi__str_find(text, from, word);
    return *found;
}

/* The members of an object, from <parameter=...> on. False: it is no such text. */
static bool phi__openai_chat_calls_parameters(phi__openai_chat_read *r, phi__buf *out, phi_str text,
                                              const phi_json *schema) {
    static const char tag[] = "<parameter=", close[] = "</parameter>";
    size_t at = 0, next = 0, end = 0;
    phi__buf_char(out, '{');
    text = phi__str_trim(text);
    while (at < text.len) {
        phi_str rest = phi__str(text.at + at, text.len - at), key;
        size_t name = phi__str_find(rest, 0, ">"), stop;
        if (!phi__str_starts(rest, tag) || name == SIZE_MAX) return false;
        key = phi__str_trim(phi__str(rest.at + sizeof tag - 1, name - (sizeof tag - 1)));
        name += at + 1;
        stop = phi__openai_chat_calls_next(text, name, "\n<parameter=", &next);
        if (phi__openai_chat_calls_next(text, name, close, &end) < stop) stop = end;
        stop = phi__min(stop, text.len);
        phi__json_write_comma(out);
        phi__json_write_str(out, key);
        phi__buf_char(out, ':');
        phi__openai_chat_calls_put(r, out, phi__str(text.at + name, stop - name), schema, key);
        at = stop == end ? stop + sizeof close - 1 : stop; /* else the closing tag is missing */
        at = (size_t)(phi__str_trim(phi__str(text.at + at, text.len - at)).at - text.at);
    }
    phi__buf_char(out, '}');
    return true;
}

/* One function, whose name begins the text. */
static bool phi__openai_chat_calls_one(phi__openai_chat_read *r, phi_str text) {
    size_t name = phi__str_find(text, 0, ">"), tool;
    phi_json *schema = NULL;
    phi_str arguments = PHI_ZERO, called;
    phi_arena_mark mark;
    phi__buf out;
    bool read;
    if (name == SIZE_MAX) return false;
    called = phi__str_trim(phi__str(text.at, name));
    text = phi__str_trim(phi__str(text.at + name + 1, text.len - name - 1));
    if (text.len > 0 && text.at[0] == '{') /* Llama, Functionary */
        return phi__openai_chat_calls_keep(r, called, text);
    mark = phi_arena_save(r->arena);
    tool = phi__openai_chat_calls_tool(r, called);
    if (tool != SIZE_MAX && r->a->tools[tool].schema.len > 0 &&
        phi_json_parse(r->arena, r->a->tools[tool].schema, 0, &schema, NULL) == PHI_NO_MEMORY) {
        r->failed = true;
        return false;
    }
    phi__buf_init(&out, r->a->memory);
    read = phi__openai_chat_calls_parameters(r, &out, text, schema);
    phi_arena_reset(r->arena, mark); /* a text may have a thousand calls, each with a schema */
    if (!read) {
        if (out.failed) r->failed = true;
        phi__buf_free(&out);
        return false;
    }
    return phi__openai_chat_calls_text(r, &out, &arguments) &&
           phi__openai_chat_calls_keep(r, called, arguments);
}

/* Where the last `word` of a text begins, or its end. */
static size_t phi__openai_chat_calls_last(phi_str text, const char *word) {
    size_t n = strlen(word), i;
    for (i = text.len; i >= n; i--)
        if (memcmp(text.at + i - n, word, n) == 0) return i - n;
    return text.len;
}

/* <function=name>...</function>, one after the other; the last may lack its end. A value may hold
   the closing tag as well. */
static bool phi__openai_chat_calls_functions(phi__openai_chat_read *r, phi_str text) {
    static const char tag[] = "<function=", close[] = "</function>";
    for (; text.len > 0; text = phi__str_trim(text)) {
        size_t end, from = sizeof tag - 1;
        if (!phi__str_starts(text, tag)) return false;
        end = phi__min(phi__str_find(text, from, tag), text.len);
        end = phi__openai_chat_calls_last(phi__str(text.at, end), close);
        if (!phi__openai_chat_calls_one(r, phi__str(text.at + from, end - from))) return false;
        end = phi__min(end + sizeof close - 1, text.len);
        text = phi__str(text.at + end, text.len - end);
    }
    return r->count > 0;
}

/* ---- name[ARGS]{...} ---- */

static bool phi__openai_chat_calls_is_name(phi_str name) {
    size_t i;
    for (i = 0; i < name.len; i++) {
        char c = name.at[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) &&
            (c == '\0' || strchr("_-.:/", c) == NULL))
            return false;
    }
    return name.len > 0;
}

static bool phi__openai_chat_calls_mistral(phi__openai_chat_read *r, phi_str text) {
    static const char again[] = "[TOOL_CALLS]";
    while (text.len > 0) {
        size_t name = 0, end;
        phi_str one, called;
        end = phi__min(phi__str_find(text, 0, again), text.len);
        one = phi__str_trim(phi__str(text.at, end));
        while (name < one.len && one.at[name] != '{' && one.at[name] != '[') name++;
        called = phi__str_trim(phi__str(one.at, name));
        while (name < one.len && one.at[name] != '{') name++;
        if (name == one.len || !phi__openai_chat_calls_is_name(called) ||
            !phi__openai_chat_calls_keep(r, called, phi__str(one.at + name, one.len - name)))
            return false;
        end = phi__min(end + sizeof again - 1, text.len);
        text = phi__str(text.at + end, text.len - end);
    }
    return r->count > 0;
}

/* ---- calls that are broken ---- */

/* The string after the first "name" of a text, at any depth. */
static bool phi__openai_chat_calls_named(phi_str text, phi_str *name) {
    size_t at = phi__str_find(text, 0, "\"name\""), end;
    if (at == SIZE_MAX) return false;
    for (at += 6; at < text.len && strchr(" \n\t:", text.at[at]) != NULL; at++)
        if (text.at[at] == '\0') return false;
    if (at >= text.len || text.at[at] != '"') return false;
    end = phi__str_find(text, at + 1, "\"");
    if (end == SIZE_MAX) return false;
    *name = phi__str(text.at + at + 1, end - at - 1);
    return true;
}

/* A call whose text was cut, or cannot be read: its name, and its arguments as they came. The model
   then gets an error that names the fault. */
static bool phi__openai_chat_calls_broken(phi__openai_chat_read *r, phi_str text, bool cut) {
    static const char *const keys[] = {"\"arguments\"", "\"parameters\""};
    static const char tag[] = "<function=";
    phi_str name = PHI_ZERO, arguments = phi_str_of("{");
    size_t i, at, end;
    r->count = 0;
    if (phi__str_starts(text, tag)) {
        end = phi__str_find(text, 0, ">");
        if (end == SIZE_MAX) return false;
        at = sizeof tag - 1;
        return cut && phi__openai_chat_calls_keep(r, phi__str(text.at + at, end - at), arguments);
    }
    if (!phi__openai_chat_calls_named(text, &name) ||
        phi__openai_chat_calls_tool(r, name) == SIZE_MAX)
        return false;
    for (i = 0; i < PHI__COUNT(keys); i++) {
        at = phi__str_find(text, 0, keys[i]);
        if (at == SIZE_MAX) continue;
        for (at += strlen(keys[i]); at < text.len && text.at[at] != ':'; at++) {}
        if (at + 1 < text.len)
            arguments = phi__str_trim(phi__str(text.at + at + 1, text.len - at - 1));
        break;
    }
    if (arguments.len == 0) arguments = phi_str_of("{");
    if (!cut && arguments.len > 1 && arguments.at[arguments.len - 1] == '}') arguments.len--;
    return phi__openai_chat_calls_keep(r, name, arguments);
}

/* ---- for the text ---- */

static bool phi__openai_chat_calls_read(phi__openai_chat_read *r, phi_str text) {
    if (text.len == 0) return false;
    if (phi__str_starts(text, "<function=")) return phi__openai_chat_calls_functions(r, text);
    if (text.at[0] == '{' || text.at[0] == '[') return phi__openai_chat_calls_json(r, text);
    return !r->known && phi__openai_chat_calls_mistral(r, text);
}

static void phi__openai_chat_calls_block(phi__assembly *a, phi_str name, phi_str arguments) {
    size_t block;
    if (a->count > 0) phi__assembly_close(a, a->count - 1);
    block = phi__assembly_open(a, PHI_CONTENT_TOOL_CALL, -1);
    if (block == SIZE_MAX) return;
    phi__assembly_set(a, &a->drafts[block].name, name);
    phi__assembly_add(a, block, arguments);
    phi__assembly_close(a, block);
}

/* The text without the fence around it and without the end-of-turn token after it. */
static phi_str phi__openai_chat_calls_bare(phi_str text) {
    static const char *const ends[] = {"<|eom_id|>", "<|eot_id|>", "```"};
    size_t i, n;
    text = phi__str_trim(text);
    for (i = 0; i < PHI__COUNT(ends); i++) {
        n = strlen(ends[i]);
        if (text.len < n || memcmp(text.at + text.len - n, ends[i], n) != 0) continue;
        text.len -= n;
        text = phi__str_trim(text);
    }
    if (!phi__str_starts(text, "```")) return text;
    for (i = 3; i < text.len && strchr(" \n\r\t{[", text.at[i]) == NULL; i++) {}
    return phi__str_trim(phi__str(text.at + i, text.len - i));
}

PHI__FN bool phi__openai_chat_calls_of(phi__assembly *a, phi_str text, bool known, bool cut) {
    phi__openai_chat_read r = PHI_ZERO;
    phi_arena_mark mark = phi_arena_save(&a->scratch);
    bool read;
    size_t i;
    r.a = a;
    r.arena = &a->scratch;
    r.repairs = (a->quirks & PHI_QUIRK_REPAIR_CALLS) != 0;
    r.known = known;
    text = phi__openai_chat_calls_bare(text);
    read = !cut && phi__openai_chat_calls_read(&r, text);
    if (!read && !r.failed && (!known || cut)) read = phi__openai_chat_calls_broken(&r, text, cut);
    if (r.failed) a->no_memory = true;
    for (i = 0; read && !a->no_memory && i < r.count; i++)
        phi__openai_chat_calls_block(a, r.made[i].name, r.made[i].arguments);
    phi_arena_reset(&a->scratch, mark);
    return read;
}
