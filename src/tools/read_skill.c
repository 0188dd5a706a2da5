/* read_skill.c - the tool by which a model reads a skill: its instructions, another file, or the
   names in a directory; a slice a step.

   The directory is resolved again for each call: skills can be moved or removed while the program
   runs. Lines pass through a filter that keeps those wanted, up to a limit of bytes. SKILL.md is
   read whole first, for its front matter is left out and {baseDir} replaced. */
#include "tools/skills_in.h"
#include "base/base_in.h"
#include "tools/tools_in.h"

#ifndef PHI_NO_FILES

#include <stdio.h>
#include <stdlib.h>

enum {
    PHI__READ_SKILL_MS = 30000,
    PHI__READ_SKILL_NAMED = 20,   /* skills that an error names */
    PHI__READ_SKILL_ENTRIES = 200 /* of a directory that are shown */
};

typedef struct phi__read_skill {
    phi__job job;
    const phi_skills *skills;
    const phi_skill *skill;
    const char *path; /* as given, or that of SKILL.md below the directory */
    phi__resolve *place;
    bool instructions;
    bool based; /* the directory is where it was, and `place` is that of the path */
    phi__file *from;
    char *slice;
    phi__buf whole; /* of SKILL.md */
    /* lines */
    uint64_t first, limit, line; /* from 0 */
    bool in_line, cut, ended;    /* ended: the rest is not wanted */
    uint64_t cut_line;           /* where to continue, from 0 */
    phi__buf out;
    /* a directory */
    phi__walk *walk;
    phi_str *names;
    size_t name_count, name_cap, name_all;
} phi__read_skill;

static void phi__read_skill_drop(phi__job *job) {
    phi__read_skill *read = (phi__read_skill *)(void *)job;
    phi__files_close(read->from);
    phi__walk_free(read->walk);
    phi__free(job->memory, read->names, read->name_cap * sizeof *read->names);
    phi__free(job->memory, read->slice, PHI__JOB_SLICE);
    phi__buf_free(&read->whole);
    phi__buf_free(&read->out);
    read->from = NULL;
    read->walk = NULL;
    read->names = NULL;
    read->slice = NULL;
}

static phi_flow phi__read_skill_fail(phi__read_skill *read, const char *words) {
    return phi__job_fail(&read->job, "Cannot read %s of the skill \"%s\": %s", read->path,
                         read->skill->name.at, words);
}

/* Gives the text, which is freed. */
static phi_flow phi__read_skill_give(phi__read_skill *read, phi__buf *text, const char *kind) {
    phi__buf details;
    phi__buf_init(&details, read->job.memory);
    phi__buf_text(&details, "{\"skill\":");
    phi__json_write_str(&details, read->skill->name);
    phi__buf_printf(&details, ",\"%s\":", kind);
    phi__json_write_str(&details, phi_str_of(read->path));
    phi__buf_printf(&details, ",\"truncated\":%s}", read->cut ? "true" : "false");
    return phi__job_done_with(&read->job, text, &details);
}

/* ---- lines ---- */

/* Part of one line that is wanted, with its line break if that has come. */
static void phi__read_skill_take(phi__read_skill *read, const char *at, size_t n) {
    size_t most = read->skills->desc.max_read_bytes;
    if (read->out.len + n <= most) {
        phi__buf_add(&read->out, at, n);
        return;
    }
    phi__buf_add(&read->out, at, most - read->out.len);
    read->cut = read->ended = true;
}

static void phi__read_skill_lines(phi__read_skill *read, const char *at, size_t n) {
    while (n > 0 && !read->ended) {
        const char *newline = (const char *)memchr(at, '\n', n);
        size_t len = newline != NULL ? (size_t)(newline - at) + 1 : n;
        if (read->line >= read->first && read->line - read->first >= read->limit) {
            read->ended = true;
            return;
        }
        if (read->line >= read->first) phi__read_skill_take(read, at, len);
        if (read->ended) {
            /* Cuts back to the last whole line, if there is one, so that reading can go on at the
               next; else a single line is too long. */
            size_t end = read->out.len;
            while (end > 0 && read->out.at[end - 1] != '\n') end--;
            if (end > 0) read->out.len = end;
            read->cut_line = read->line + (end > 0 ? 0 : 1);
            return;
        }
        read->in_line = newline == NULL;
        if (newline != NULL) read->line++;
        at += len;
        n -= len;
    }
}

/* All wanted lines are there. */
static phi_flow phi__read_skill_done(phi__read_skill *read) {
    phi__buf text;
    uint64_t lines = read->line + (read->in_line ? 1 : 0);
    if (read->first > 0 && read->first >= lines && !read->ended) {
        char words[96];
        (void)snprintf(words, sizeof words, "it has %llu lines, offset was %llu",
                       (unsigned long long)lines, (unsigned long long)read->first + 1);
        return phi__read_skill_fail(read, words);
    }
    phi__buf_init(&text, read->job.memory);
    phi__utf8_repair(&text, phi__buf_str(&read->out));
    if (read->cut)
        phi__buf_printf(&text, "\n... (cut at %u bytes; continue with offset %llu)",
                        (unsigned)read->skills->desc.max_read_bytes,
                        (unsigned long long)read->cut_line + 1);
    text.failed = text.failed || read->out.failed;
    return phi__read_skill_give(read, &text, "file");
}

/* ---- files ---- */

/* The body, with {baseDir} replaced, through the filter. */
static phi_flow phi__read_skill_body(phi__read_skill *read) {
    static const char mark[] = "{baseDir}";
    phi__front_matter front;
    phi_str text = phi__buf_str(&read->whole), base = read->skill->base_dir;
    size_t next;
    if (phi__front_split(text, &front) != PHI_OK)
        return phi__read_skill_fail(read, "it has changed since the skills were loaded, and has no "
                                          "front matter now");
    size_t at = front.body_at;
    while (at < text.len && (text.at[at] == '\n' || text.at[at] == '\r')) at++;
    while ((next = phi__str_find(text, at, mark)) != SIZE_MAX) {
        phi__read_skill_lines(read, text.at + at, next - at);
        phi__read_skill_lines(read, base.at, base.len);
        at = next + sizeof mark - 1;
    }
    phi__read_skill_lines(read, text.at + at, text.len - at);
    return phi__read_skill_done(read);
}

static phi_flow phi__read_skill_more(phi__job *job) {
    phi__read_skill *read = (phi__read_skill *)(void *)job;
    phi__words words;
    size_t got;
    if (phi__files_read(read->from, read->slice, PHI__JOB_SLICE, &got, &words) != PHI_OK)
        return phi__read_skill_fail(read, words.text);
    if (got > 0 && memchr(read->slice, 0, got) != NULL)
        return phi__read_skill_fail(read, "it is not a text");
    if (read->instructions) {
        phi__buf_add(&read->whole, read->slice, got);
        if (read->whole.failed) return phi__job_no_memory(job);
        if (read->whole.len > read->skills->desc.max_file_bytes)
            return phi__read_skill_fail(read, "it is too large now");
        return got > 0 ? PHI_PENDING : phi__read_skill_body(read);
    }
    phi__read_skill_lines(read, read->slice, got);
    if (read->out.failed) return phi__job_no_memory(job);
    return got > 0 && !read->ended ? PHI_PENDING : phi__read_skill_done(read);
}

/* ---- directories ---- */

static int phi__read_skill_order(const void *a, const void *b) {
    const phi_str *x = (const phi_str *)a, *y = (const phi_str *)b;
    return strcmp(x->at, y->at);
}

static phi_flow phi__read_skill_listed(phi__read_skill *read) {
    phi__buf text;
    if (read->name_count > 1)
        qsort(read->names, read->name_count, sizeof *read->names, phi__read_skill_order);
    phi__buf_init(&text, read->job.memory);
    for (size_t i = 0; i < read->name_count; i++) {
        if (i > 0) phi__buf_char(&text, '\n');
        phi__utf8_repair(&text, read->names[i]);
    }
    if (read->name_all == 0) phi__buf_text(&text, "(an empty directory)");
    read->cut = read->name_all > read->name_count;
    if (read->cut)
        phi__buf_printf(&text, "\n... (and %llu more)",
                        (unsigned long long)(read->name_all - read->name_count));
    return phi__read_skill_give(read, &text, "directory");
}

static bool phi__read_skill_name(phi__read_skill *read, const phi__walk_entry *entry) {
    phi_str *names;
    size_t n = entry->path.len;
    read->name_all++;
    if (read->name_count == PHI__READ_SKILL_ENTRIES) return true;
    names = (phi_str *)phi__grow(read->job.memory, read->names, &read->name_cap,
                                 read->name_count + 1, sizeof *names);
    if (names == NULL) return false;
    read->names = names;
    char *copy = phi__arena_bytes(&read->job.arena, n + 2);
    if (copy == NULL) return false;
    memcpy(copy, entry->path.at, n);
    if (entry->kind == PHI__FILE_DIRECTORY) copy[n++] = '/';
    copy[n] = '\0';
    names[read->name_count++] = phi__str(copy, n);
    return true;
}

static phi_flow phi__read_skill_list(phi__job *job) {
    phi__read_skill *read = (phi__read_skill *)(void *)job;
    phi__walk_entry entry;
    int left = PHI__JOB_PATHS;
    while (left-- > 0) {
        phi_status status = phi__walk_next(read->walk, &entry);
        if (status == PHI_BUSY) continue;
        if (status == PHI_NOT_FOUND) return phi__read_skill_listed(read);
        if (status != PHI_OK || !phi__read_skill_name(read, &entry)) return phi__job_no_memory(job);
        phi__walk_skip(read->walk);
    }
    return PHI_PENDING;
}

/* ---- places ---- */

static phi_flow phi__read_skill_open(phi__read_skill *read) {
    phi__words words;
    phi__file_info info;
    phi_status status = phi__files_stat(read->place->out, PHI__LINKS_REFUSE, &info, &words);
    read->job.go = phi__read_skill_more;
    if (status == PHI_OK && info.kind == PHI__FILE_DIRECTORY) {
        read->job.go = phi__read_skill_list;
        status = phi__walk_new(read->job.memory, read->place->out, PHI__LINKS_REFUSE, &read->walk,
                               &words);
    } else if (status == PHI_OK) {
        status = phi__files_open_read(read->job.memory, read->place->out, PHI__LINKS_REFUSE,
                                      &read->from, &words);
        read->slice = (char *)phi__alloc(read->job.memory, PHI__JOB_SLICE);
        if (read->slice == NULL) status = PHI_NO_MEMORY;
    }
    if (status == PHI_NO_MEMORY) return phi__job_no_memory(&read->job);
    return status == PHI_OK ? PHI_PENDING : phi__read_skill_fail(read, words.text);
}

static phi_flow phi__read_skill_placed(phi__job *job) {
    phi__read_skill *read = (phi__read_skill *)(void *)job;
    const char *base = read->skill->base_dir.at;
    size_t units = PHI__JOB_PATHS;
    phi__words words;
    phi_status status = phi__path_resolve_advance(read->place, &units, &words);
    if (status == PHI_BUSY) return PHI_PENDING;
    if (status != PHI_OK) return phi__read_skill_fail(read, words.text);
    if (read->based) {
        if (phi__path_inside(base, read->place->out)) return phi__read_skill_open(read);
        return phi__read_skill_fail(read, "it lies outside the directory of the skill");
    }
    if (strcmp(read->place->out, base) != 0)
        return phi__read_skill_fail(read, "the directory of the skill has moved since the skills "
                                          "were loaded");
    if (phi__path_resolve_begin(read->place, base, read->path, &words) != PHI_OK)
        return phi__read_skill_fail(read, words.text);
    read->based = true;
    return phi__read_skill_placed(job);
}

/* ---- the beginning ---- */

static phi_flow phi__read_skill_unknown(phi__read_skill *read, const char *name) {
    phi__buf list;
    size_t i;
    phi__buf_init(&list, read->job.memory);
    for (i = 0; i < read->skills->count && i < PHI__READ_SKILL_NAMED; i++) {
        if (i > 0) phi__buf_text(&list, ", ");
        phi__buf_add_str(&list, read->skills->list[i]->name);
    }
    if (i < read->skills->count) phi__buf_text(&list, ", ...");
    if (i == 0) phi__buf_text(&list, "none");
    phi_flow flow = list.failed
                        ? phi__job_no_memory(&read->job)
                        : phi__job_fail(&read->job, "There is no skill \"%s\". Skills: %.*s", name,
                                        (int)list.len, list.at);
    phi__buf_free(&list);
    return flow;
}

static phi_flow phi__read_skill_go(phi__job *job) {
    phi__read_skill *read = (phi__read_skill *)(void *)job;
    const char *name;
    phi__words words;
    uint64_t first;
    read->skills = (const phi_skills *)job->user_data;
    phi__buf_init(&read->whole, job->memory);
    phi__buf_init(&read->out, job->memory);
    if (!phi__job_text(job, "name", true, &name) ||
        !phi__job_text(job, "file", false, &read->path) ||
        !phi__job_number(job, "offset", 1, &first) ||
        !phi__job_number(job, "limit", UINT64_MAX, &read->limit))
        return PHI_DONE;
    read->first = first > 0 ? first - 1 : 0;
    if (read->limit == 0) read->limit = UINT64_MAX;
    read->skill = phi__skills_find(read->skills, phi_str_of(name));
    if (read->skill == NULL) return phi__read_skill_unknown(read, name);
    read->instructions =
        read->path == NULL || read->path[0] == '\0' || strcmp(read->path, "SKILL.md") == 0;
    if (read->instructions) { /* below the directory of the skill */
        read->path = read->skill->file_path.at + read->skill->base_dir.len;
        if (read->path[0] == '/') read->path++;
    }
    read->place = (phi__resolve *)phi_arena_alloc(&job->arena, sizeof *read->place);
    if (read->place == NULL) return phi__job_no_memory(job);
    if (phi__path_resolve_begin(read->place, NULL, read->skill->base_dir.at, &words) != PHI_OK)
        return phi__read_skill_fail(read, words.text);
    job->go = phi__read_skill_placed;
    return phi__read_skill_placed(job);
}

static phi_flow phi__read_skill_start(void *user_data, phi_call call, phi_str arguments) {
    return phi__job_begin(user_data, call, arguments, sizeof(phi__read_skill), false,
                          phi__read_skill_go, phi__read_skill_drop);
}

/* ---- public ---- */

PHI_API phi_status phi_skills_tool(phi_skills *skills, phi_tool *out) {
    static const char schema[] =
        "{\"type\":\"object\",\"properties\":{"
        "\"name\":{\"type\":\"string\",\"description\":\"Name of the skill\"},"
        "\"file\":{\"type\":\"string\",\"description\":\"A file or directory of the skill, such as "
        "references/forms.md (default: the skill's instructions)\"},"
        "\"offset\":{\"type\":\"integer\",\"minimum\":0,"
        "\"description\":\"First line to read, counted from 1 (default: 1)\"},"
        "\"limit\":{\"type\":\"integer\",\"minimum\":0,"
        "\"description\":\"How many lines to read (default: all)\"}},"
        "\"required\":[\"name\"]}";
    if (skills == NULL || out == NULL) return PHI_BAD_ARG;
    memset(out, 0, sizeof *out);
    out->name = "read_skill";
    out->label = "Read Skill";
    out->description = "Read the instructions of a skill, or another file of it. Do so before a "
                       "task that the description of a skill matches.";
    out->schema = schema;
    out->start = phi__read_skill_start;
    out->step = phi__job_step;
    out->cancel = phi__job_cancel;
    out->user_data = skills;
    out->timeout_ms = PHI__READ_SKILL_MS;
    out->checks_arguments = out->unlisted = true;
    return PHI_OK;
}

#endif
