/* phi_todo.h - the tool todo_write: a list of tasks that the model keeps, and the rows that show it. Copy what you need of
   it. Each call has the whole list; the newest call of a conversation is its list. */
#ifndef PHI_TODO_H
#define PHI_TODO_H

#include "phi_tools.h"

#include "phi_prose.h"

enum { TODO_TASKS = 100, TODO_COLUMNS = 400, TODO_ROWS = 6 };

/* Zero to begin with. */
typedef struct todo {
    text words; /* a row for each task: ' ', '>' or 'x', and its words */
    int count, done;
    int current; /* the task that is worked at, or the first one that is not done */
} todo;

static const char todo_name[] = "todo_write";

static const char todo_schema[] =
    "{\"type\":\"object\",\"properties\":{\"todos\":{\"type\":\"array\",\"maxItems\":100,"
    "\"items\":{\"type\":\"object\",\"properties\":{\"content\":{\"type\":\"string\"},"
    "\"status\":{\"type\":\"string\",\"enum\":[\"pending\",\"in_progress\",\"completed\"]}},"
    "\"required\":[\"content\",\"status\"]}}},\"required\":[\"todos\"]}";

/* Takes the list of a call. False: it is none, and nothing changes. */
static inline bool todo_set(todo *t, phi_str arguments, phi_arena *arena) {
    phi_json *json, *list, *each;
    phi_json_iter it;
    int works = -1, waits = -1; /* the first of each */
    if (phi_json_parse(arena, arguments, PHI_JSON_REPLACE_BAD_UTF8, &json, NULL) != PHI_OK)
        return false;
    list = phi_json_get(json, "todos");
    if (!phi_json_is(list, PHI_JSON_ARRAY) || phi_json_count(list) > TODO_TASKS) return false;
    t->words.len = 0;
    t->count = t->done = t->current = 0;
    for (it = phi_json_each(list); (each = phi_json_next(&it)) != NULL; t->count++) {
        phi_str status = phi_json_str(phi_json_get(each, "status"), "");
        bool done = phi_str_is(status, "completed"), now = phi_str_is(status, "in_progress");
        if (done) t->done++;
        if (now ? works < 0 : !done && works < 0 && waits < 0) t->current = t->count;
        if (now && works < 0) works = t->count;
        if (!now && !done && waits < 0) waits = t->count;
        text_say(&t->words, done ? "x" : now ? ">" : " ");
        text_fit(&t->words, phi_json_str(phi_json_get(each, "content"), ""), TODO_COLUMNS);
        text_say(&t->words, "\n");
    }
    return true;
}

static inline phi_flow todo_start(void *user_data, phi_call call, phi_str arguments) {
    todo *t = (todo *)user_data;
    phi_memory memory;
    phi_arena arena;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    if (todo_set(t, arguments, &arena))
        (void)phi_call_replyf(call, "The list has %d tasks, of which %d are completed.", t->count,
                              t->done);
    else
        (void)phi_call_fail(call, "todos must be an array of at most 100 tasks");
    phi_arena_free(&arena);
    return PHI_DONE;
}

static inline phi_tool todo_tool(todo *t) {
    phi_tool tool = PHI_ZERO;
    tool.name = todo_name;
    tool.label = "Tasks";
    tool.description =
        "Write the list of tasks of the work at hand. Each call has the whole list. Use it if the "
        "work has three steps or more. At most one task is in_progress; mark a task completed as "
        "soon as it is done.";
    tool.schema = todo_schema;
    tool.start = todo_start;
    tool.user_data = t;
    tool.deterministic = true;
    return tool;
}

/* Another prompt is sent: the list is shown again when a call has one. */
static inline void todo_clear(todo *t) { t->words.len = 0, t->count = t->done = t->current = 0; }

/* Row number `row` of the list, without its mark; *mark: its mark. */
static inline phi_str todo_row(const todo *t, int row, char *mark) {
    size_t from = 0, to;
    phi_str words;
    while (row > 0 && from < t->words.len) row -= t->words.at[from++] == '\n';
    for (to = from; to < t->words.len && t->words.at[to] != '\n';) to++;
    *mark = from < t->words.len ? t->words.at[from] : ' ';
    words.at = t->words.at + from + 1;
    words.len = to > from ? to - from - 1 : 0;
    return words;
}

/* At most `most` rows around the current task, if not all is done. How many. */
static inline int todo_rows(const todo *t, int columns, int most, text *rows) {
    int n = most < TODO_ROWS ? most : TODO_ROWS, tasks = t->count, first = 0, i;
    char mark;
    if (n <= 0 || t->done == t->count) return 0;
    if (tasks > n) {
        tasks = n > 1 ? n - 1 : 1;
        first = t->current - (tasks > 1 ? 1 : 0);
        if (first > t->count - tasks) first = t->count - tasks;
        if (first < 0) first = 0;
    }
    for (i = 0; i < tasks; i++) {
        phi_str words = todo_row(t, first + i, &mark);
        text_print(&rows[i], "  [%c] ", mark);
        text_fit(&rows[i], words, columns - 6);
    }
    if (tasks == t->count || n <= tasks) return tasks;
    text_print(&rows[tasks], "  (%d of %d done)", t->done, t->count);
    return tasks + 1;
}

/* The line of a call. */
static inline void todo_line(const todo *t, text *out) {
    out->len = 0;
    text_print(out, "* %s (%d of %d done)", todo_name, t->done, t->count);
}

/* All of it, in the transcript. */
static inline void todo_show(const todo *t, screen *s) {
    text rows = {NULL, 0, 0};
    int i;
    char mark;
    for (i = 0; i < t->count; i++) {
        phi_str words = todo_row(t, i, &mark);
        spans_style(&rows, mark == '>' ? STYLE_STRONG : mark == 'x' ? STYLE_DIM : STYLE_PLAIN);
        text_print(&rows, "    [%c] ", mark);
        rows_hang(&rows, 8);
        text_add(&rows, words.at, words.len);
        text_say(&rows, "\n");
    }
    spans_style(&rows, STYLE_PLAIN);
    screen_answer_styled(s, &rows);
    free(rows.at);
}

#endif
