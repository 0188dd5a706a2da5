/* machine.c - functions shared by all machines, and parsers for the model's text. */
#include "orchestrate/machine_in.h"

#include <stdio.h>

/* ---- events and commands ---- */

PHI__FN bool phi__machine_takes(phi__machine *m, uint32_t over, const phi_strategy_event *event,
                                const phi_strategy_env *env, phi_strategy_commands *out) {
    m->env = env;
    m->out = out;
    if (event->kind == PHI_STRATEGY_BEGIN) return m->phase == 0;
    if (m->phase == 0 || m->phase == over) return false;
    if (event->kind == PHI_STRATEGY_STOP) return true;
    if (event->call_id != m->call_id) return false;
    phi__message_add_usage(&m->usage, &event->usage);
    return true;
}

PHI_API phi_strategy_command *phi_strategy_add(phi_strategy_commands *commands,
                                               phi_strategy_command_kind kind) {
    if (commands->count >= PHI_STRATEGY_COMMANDS) return NULL;
    phi_strategy_command *command = &commands->at[commands->count++];
    memset(command, 0, sizeof *command);
    command->kind = kind;
    return command;
}

PHI__FN phi_status phi__machine_emit(phi__machine *m, const char *phase) {
    phi_strategy_command *command = phi_strategy_add(m->out, PHI_STRATEGY_EMIT);
    if (command == NULL) return PHI_FULL;
    command->phase = phi_str_of(phase);
    return PHI_OK;
}

PHI__FN bool phi__machine_text(phi__buf *buf, phi_arena *arena, phi_str *out) {
    bool done = !buf->failed && phi__arena_str(arena, phi__buf_str(buf), out);
    phi__buf_free(buf);
    return done;
}

PHI__FN phi_status phi__machine_ask(phi__machine *m, const phi_strategy_call *call,
                                    phi__buf *prompt) {
    phi_str text = {NULL, 0};
    if (prompt != NULL && !phi__machine_text(prompt, m->env->scratch, &text)) return PHI_NO_MEMORY;
    phi_strategy_command *command = phi_strategy_add(m->out, PHI_STRATEGY_ASK);
    if (command == NULL) return PHI_FULL;
    command->call = *call;
    command->call.id = m->call_id;
    command->call.prompt = text;
    return PHI_OK;
}

/* ---- results ---- */

PHI__FN void phi__machine_result(const phi__machine *m, phi__buf *result) {
    phi__buf_init(result, m->env->scratch->memory);
    phi__buf_char(result, '{');
}

PHI__FN void phi__machine_put_termination(const phi__machine *m, phi__buf *out, const char *reason,
                                          const char *status, bool open) {
    phi__records_raw(out, "termination", "{");
    phi__records_str(out, "reason", phi_str_of(reason));
    phi__records_str(out, "status", phi_str_of(status));
    phi__records_u64(out, "duration_ms", m->env->elapsed_ms);
    if (!open) phi__buf_char(out, '}');
}

PHI__FN void phi__machine_put_doubles(phi__buf *out, const char *key, const double *items,
                                      size_t n) {
    phi__records_raw(out, key, "[");
    for (size_t i = 0; i < n; i++) {
        phi__json_write_comma(out);
        phi__json_number_put_double(out, items[i]);
    }
    phi__buf_char(out, ']');
}

static phi_status phi__machine_end(phi__machine *m, phi_strategy_command_kind kind, phi_str text,
                                   phi_stop_reason reason, phi_status status, phi__buf *result) {
    phi_str json = {NULL, 0}, kept = {NULL, 0};
    phi__buf_char(result, '}');
    if (!phi__machine_text(result, m->env->scratch, &json) ||
        !phi__arena_str(m->env->scratch, text, &kept))
        return PHI_NO_MEMORY;
    phi_strategy_command *command = phi_strategy_add(m->out, kind);
    if (command == NULL) return PHI_FULL;
    command->text = kept;
    command->result = json;
    command->stop_reason = reason;
    command->status = status;
    return PHI_OK;
}

PHI__FN phi_status phi__machine_done(phi__machine *m, phi_str answer, phi_stop_reason reason,
                                     phi__buf *result) {
    return phi__machine_end(m, PHI_STRATEGY_DONE, answer, reason, PHI_OK, result);
}

PHI__FN phi_status phi__machine_fail(phi__machine *m, phi_status status, phi_str message,
                                     phi__buf *result) {
    return phi__machine_end(m, PHI_STRATEGY_FAIL, message, PHI_STOP_REASON_NONE, status, result);
}

/* ---- saving and loading ---- */

PHI__FN void phi__machine_save(phi__buf *out, const phi__field *fields, size_t count,
                               const void *state, phi_arena *arena) {
    phi__buf_init(out, arena->memory);
    phi__buf_char(out, '{');
    phi__records_put(out, fields, count, state);
}

PHI__FN phi_json *phi__machine_saved(phi__buf *out, const phi_usage *usage, phi_arena *arena) {
    phi_json *root = NULL;
    if (usage != NULL) phi__message_put_usage(out, usage);
    phi__buf_char(out, '}');
    if (!out->failed) (void)phi_json_parse(arena, phi__buf_str(out), 0, &root, NULL);
    phi__buf_free(out);
    return root;
}

PHI__FN phi_status phi__machine_load(phi__machine *m, const phi__field *fields, size_t count,
                                     uint32_t over, const phi_json *saved,
                                     const phi_strategy_env *env, phi_strategy_commands *out) {
    if (phi__json_get_uint(phi_json_get(saved, "phase"), UINT64_MAX) > over) return PHI_PARSE;
    m->env = env;
    m->out = out;
    m->usage = phi__message_read_get_usage(phi_json_get(saved, "usage"));
    return phi__records_get(saved, fields, count, m, env->arena) ? PHI_OK : PHI_NO_MEMORY;
}

PHI__FN void *phi__machine_grow(phi_arena *arena, void *items, uint32_t count, uint32_t *cap,
                                size_t size) {
    uint32_t more = *cap < 8 ? 8 : *cap * 2;
    if (count < *cap) return items;
    if (*cap > UINT32_MAX / 4) return NULL;
    void *grown = phi_arena_alloc(arena, phi__mul(more, size));
    if (grown == NULL) return NULL;
    if (count > 0) memcpy(grown, items, count * size);
    *cap = more;
    return grown;
}

PHI__FN uint64_t phi__bill_times(uint64_t a, uint64_t b) {
    return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

/* ---- parsing the model's text ---- */

/* Max. bytes that are parsed in one step: about 3 ms of work, and over 60,000 tokens of prose. */
enum { PHI__PARSE_MOST = 262144 };

static bool phi__parse_white(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static bool phi__parse_mark(char c) { return c == '*' || c == '_' || c == '`'; }

/* Skips white space and emphasis. */
static phi_str phi__parse_skip(phi_str text) {
    size_t i = 0;
    while (i < text.len && (phi__parse_white(text.at[i]) || phi__parse_mark(text.at[i]))) i++;
    return phi__str_from(text, i);
}

PHI__FN phi_str phi__parse_tail(phi_str text) {
    size_t at, cut;
    if (text.len <= PHI__PARSE_MOST) return text;
    cut = at = text.len - PHI__PARSE_MOST;
    while (at < text.len && text.at[at - 1] != '\n') at++;
    if (at < text.len) return phi__str_from(text, at);
    while (cut < text.len && ((unsigned char)text.at[cut] & 0xc0) == 0x80) cut++;
    return phi__str_from(text, cut);
}

PHI__FN bool phi__parse_line(phi_str text, size_t *at, phi_str *line) {
    size_t from = *at, end;
    if (from >= text.len) return false;
    for (end = from; end < text.len && text.at[end] != '\n' && text.at[end] != '\r';) end++;
    *line = phi__str(text.at + from, end - from);
    if (end + 1 < text.len && text.at[end] == '\r' && text.at[end + 1] == '\n') end++;
    *at = phi__min(end + 1, text.len);
    return true;
}

PHI__FN bool phi__parse_full_line(phi_str text, size_t *at, phi_str *line) {
    while (phi__parse_line(text, at, line)) {
        *line = phi__str_trim(*line);
        if (line->len > 0) return true;
    }
    return false;
}

PHI__FN phi_str phi__parse_plain(phi_str text) {
    text = phi__parse_skip(text);
    while (text.len > 0 &&
           (phi__parse_white(text.at[text.len - 1]) || phi__parse_mark(text.at[text.len - 1])))
        text.len--;
    return text;
}

PHI__FN bool phi__parse_word(phi_str text, const char *word, phi_str *rest) {
    size_t len = strlen(word);
    if (text.len < len || !phi__str_is_nocase(phi__str(text.at, len), word)) return false;
    *rest = phi__str_from(text, len);
    if (rest->len == 0 || phi__str_starts(*rest, "\xEF\xBC\x9A")) return true;
    /* Bytes above 0x7F count as letters of other scripts, except in the full-width colon. */
    return !phi__is_alnum(rest->at[0]) && ((unsigned char)rest->at[0] & 0x80) == 0;
}

PHI__FN bool phi__parse_colon(phi_str text, phi_str *rest) {
    text = phi__parse_skip(text);
    if (text.len > 0 && text.at[0] == ':') {
        *rest = phi__str_from(text, 1);
        return true;
    }
    if (!phi__str_starts(text, "\xEF\xBC\x9A")) return false;
    *rest = phi__str_from(text, 3);
    return true;
}

PHI__FN bool phi__parse_named(phi_str line, const char *word, phi_str *rest) {
    if (phi__parse_bullet(line, rest)) line = *rest;
    return phi__parse_word(phi__parse_plain(line), word, rest) && phi__parse_colon(*rest, rest);
}

PHI__FN bool phi__parse_numbered(phi_str line, uint32_t *number, phi_str *rest) {
    size_t i = 0;
    uint32_t n = 0;
    line = phi__str_trim(line);
    bool marked = line.len > 0 && phi__parse_mark(line.at[0]);
    line = phi__parse_skip(line);
    for (; i < line.len && phi__is_digit(line.at[i]); i++)
        n = n < 100000000u ? n * 10u + (uint32_t)(line.at[i] - '0') : n;
    if (i == 0 || i == line.len) return false;
    if (line.at[i] != '.' && line.at[i] != ':' && line.at[i] != ')') return false;
    /* "3.5" is a number, not line 3 */
    if (i + 1 < line.len && line.at[i] != ')' && phi__is_digit(line.at[i + 1])) return false;
    *number = n;
    line = phi__str_from(line, i + 1);
    *rest = marked ? phi__parse_skip(line) : phi__str_trim(line); /* emphasis: "**1.** text" */
    return true;
}

PHI__FN bool phi__parse_bullet(phi_str line, phi_str *rest) {
    line = phi__str_trim(line);
    if (line.len >= 4 && phi__str_starts(line, "\xE2\x80\xA2"))
        line = phi__str_from(line, 3);
    else if (line.len >= 2 && (line.at[0] == '-' || line.at[0] == '*') &&
             phi__parse_white(line.at[1]))
        line = phi__str_from(line, 1);
    else
        return false;
    *rest = phi__str_trim(line);
    return rest->len > 0;
}

PHI__FN bool phi__parse_step(phi_str line, phi_str *rest) {
    phi_str text;
    size_t i = 0;
    if (!phi__parse_word(phi__parse_skip(line), "step", &text)) return false;
    while (text.len > 0 && phi__parse_white(text.at[0])) text = phi__str_from(text, 1);
    while (i < text.len && phi__is_digit(text.at[i])) i++;
    if (i == 0 || !phi__parse_colon(phi__str_from(text, i), &text)) return false;
    *rest = phi__parse_plain(text);
    return true;
}

PHI__FN bool phi__parse_number(phi_str text, double *out, phi_str *rest) {
    const char *bad = NULL;
    phi__json_number number = PHI_ZERO;
    text = phi__parse_skip(text);
    const char *end = text.at != NULL ? text.at + text.len : NULL;
    if (text.len == 0 || !(phi__is_digit(text.at[0]) || text.at[0] == '-' || text.at[0] == '.'))
        return false;
    if (text.at[0] == '.') { /* ".8" is not valid JSON */
        char copy[24] = "0";
        size_t i = 1;
        while (i < text.len && i < sizeof copy - 2 && phi__is_digit(text.at[i])) i++;
        if (i == 1) return false;
        memcpy(copy + 1, text.at, i);
        if (phi__json_number_read(copy, copy + 1 + i, &number, &bad) == NULL) return false;
        *rest = phi__str_from(text, i);
        *out = phi__json_get_number_double(&number);
        return true;
    }
    const char *to = phi__json_number_read(text.at, end, &number, &bad);
    /* Reads "1." and "1e" only up to the last digit. */
    if (to == NULL && bad > text.at) {
        size_t len = (size_t)(bad - text.at);
        while (len > 0 && !phi__is_digit(text.at[len - 1])) len--;
        to = len > 0 ? phi__json_number_read(text.at, text.at + len, &number, &bad) : NULL;
    }
    if (to == NULL || number.kind == 0) return false;
    *out = phi__json_get_number_double(&number);
    *rest = phi__str_from(text, (size_t)(to - text.at));
    return true;
}

PHI__FN uint32_t phi__parse_count(phi_str text, const char *word) {
    size_t at = 0, len = strlen(word);
    uint32_t n = 0;
    while ((at = phi__str_find_nocase(text, at, word)) != SIZE_MAX) {
        n++;
        at += len;
    }
    return n;
}

/* ---- JSON ---- */

/* Finds the JSON in a text: the first fenced block with an object, or else the text from the first
   to the last brace, or else the whole text. */
static phi_str phi__parse_payload(phi_str text) {
    size_t at = 0;
    phi_str line, inside;
    const char *from = NULL;
    while (phi__parse_line(text, &at, &line)) {
        phi_str trimmed = phi__str_trim(line);
        if (!phi__str_starts(trimmed, "```")) continue;
        if (from == NULL) {
            from = text.at + at;
            continue;
        }
        inside = phi__str_trim(phi__str(from, (size_t)(line.at - from)));
        if (inside.len > 0 && inside.at[0] == '{') return inside;
        from = NULL;
    }
    size_t first = 0, end = text.len;
    while (first < text.len && text.at[first] != '{') first++;
    while (end > first && text.at[end - 1] != '}') end--;
    return end > first ? phi__str(text.at + first, end - first) : phi__str_trim(text);
}

/* Parses the JSON of a text into an object in the arena. NULL if it is not an object. Sets
   *no_memory if memory runs out. */
static phi_json *phi__parse_object(phi_str text, phi_arena *arena, bool *no_memory) {
    phi_json *root = NULL;
    phi_str payload = phi__parse_payload(text);
    phi_status status =
        payload.len == 0 ? PHI_PARSE
                         : phi_json_parse(arena, payload, PHI_JSON_REPLACE_BAD_UTF8, &root, NULL);
    if (status == PHI_NO_MEMORY) *no_memory = true;
    return status == PHI_OK && phi_json_is(root, PHI_JSON_OBJECT) ? root : NULL;
}

/* Adds a trimmed thought unless it is empty. False: no memory. */
static bool phi__tot_parse_keep(phi_str text, phi_arena *arena, phi_str *out, phi__tot_read *read) {
    text = phi__str_trim(text);
    if (text.len == 0) return true;
    if (!phi__arena_str(arena, text, &out[read->count])) return false;
    read->count++;
    return true;
}

static bool phi__tot_parse_items(const phi_json *items, phi_arena *arena, phi_str *out, size_t most,
                                 phi__tot_read *read) {
    phi_json_iter it = phi_json_each(items);
    const phi_json *item;
    while (read->count < most && (item = phi_json_next(&it)) != NULL) {
        const phi_json *content =
            phi_json_is(item, PHI_JSON_OBJECT) ? phi_json_get(item, "content") : item;
        if (!phi_json_is(content, PHI_JSON_STRING)) continue;
        if (!phi__tot_parse_keep(phi_json_str(content, ""), arena, out, read)) return false;
    }
    return true;
}

/* Reads numbered thoughts, "1. text". Each extends to the next numbered line. False: no memory. */
static bool phi__tot_parse_lines(phi_str text, phi_arena *arena, phi_str *out, size_t most,
                                 phi__tot_read *read) {
    phi_str line, rest, open = {NULL, 0};
    size_t at = 0;
    uint32_t number;
    while (phi__parse_line(text, &at, &line)) {
        if (!phi__parse_numbered(line, &number, &rest)) {
            if (open.at != NULL) open.len = (size_t)(line.at + line.len - open.at);
            continue;
        }
        if (open.at != NULL && !phi__tot_parse_keep(open, arena, out, read)) return false;
        if (read->count >= most) return true;
        open = phi__str(rest.at, (size_t)(line.at + line.len - rest.at));
    }
    return open.at == NULL || phi__tot_parse_keep(open, arena, out, read);
}

PHI__FN phi__tot_read phi__tot_parse_thoughts(phi_str text, phi_arena *arena, phi_str *out,
                                              size_t most) {
    phi__tot_read read = PHI_ZERO;
    if (most == 0) return read;
    text = phi__parse_tail(text);
    const phi_json *items =
        phi_json_get(phi__parse_object(text, arena, &read.no_memory), "thoughts");
    if (!phi__tot_parse_items(items, arena, out, most, &read)) read.no_memory = true;
    read.json = read.count > 0;
    if (read.count == 0 && !read.no_memory && !phi__tot_parse_lines(text, arena, out, most, &read))
        read.no_memory = true;
    read.none = read.count == 0 && phi_json_is(items, PHI_JSON_ARRAY) && phi_json_count(items) == 0;
    return read;
}

static bool phi__tot_parse_value(const phi_json *node, double *out) {
    phi_str text = phi_json_str(node, ""), rest;
    if (phi_json_is(node, PHI_JSON_NUMBER)) {
        *out = phi_json_num(node, 0.5);
        return true;
    }
    return phi_json_is(node, PHI_JSON_STRING) && phi__parse_number(text, out, &rest) &&
           phi__parse_plain(rest).len == 0;
}

/* Finds the score of a thought by its id, then by its number, then by its content. */
static bool phi__tot_parse_score_of(const phi_json *scores, size_t index, phi_str content,
                                    double *out) {
    char key[24];
    (void)snprintf(key, sizeof key, "t%llu", (unsigned long long)index + 1);
    return phi__tot_parse_value(phi_json_get(scores, key), out) ||
           phi__tot_parse_value(phi_json_get(scores, key + 1), out) ||
           phi__tot_parse_value(phi__json_get_n(scores, content), out);
}

static size_t phi__tot_parse_score_lines(phi_str text, size_t count, bool *seen, double *out) {
    phi_str line, rest;
    size_t at = 0, found = 0;
    uint32_t number;
    double score;
    while (phi__parse_line(text, &at, &line)) {
        if (!phi__parse_numbered(line, &number, &rest) || number == 0 || number > count) continue;
        if (!phi__parse_number(rest, &score, &rest)) continue;
        out[number - 1] = phi__parse_clamp(score);
        found += !seen[number - 1];
        seen[number - 1] = true;
    }
    return found;
}

PHI__FN phi__tot_read phi__tot_parse_scores(phi_str text, phi_arena *scratch,
                                            const phi_str *thoughts, size_t count, double *out) {
    double score;
    phi__tot_read read = PHI_ZERO;
    text = phi__parse_tail(text);
    const phi_json *scores =
        phi_json_get(phi__parse_object(text, scratch, &read.no_memory), "scores");
    for (size_t i = 0; i < count; i++) {
        out[i] = 0.5;
        if (!phi_json_is(scores, PHI_JSON_OBJECT) ||
            !phi__tot_parse_score_of(scores, i, thoughts[i], &score))
            continue;
        out[i] = phi__parse_clamp(score);
        read.count++;
    }
    read.json = read.count > 0;
    if (read.json || read.no_memory) return read;
    bool *seen = (bool *)phi__arena_zero(scratch, phi__max(count, 1));
    if (seen == NULL)
        read.no_memory = true;
    else
        read.count = phi__tot_parse_score_lines(text, count, seen, out);
    return read;
}
