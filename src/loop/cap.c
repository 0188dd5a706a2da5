/* cap.c - cuts results to max_result_bytes. The texts of a result are cut as one text: its head and
   tail stay, with a line between them that counts the missing bytes. A line replaces an image, a
   document or audio that is too large. */
#include "loop/inner_in.h"

#include <stdio.h>

/* ---- a copy of a tool's result, which outlives the tool's function ---- */

PHI__FN phi_message *phi__results_keep(phi_arena *arena, const phi_tool_result *result) {
    phi_message message = PHI_ZERO;
    message.role = PHI_ROLE_TOOL_RESULT;
    message.content = result->content;
    message.content_count = result->content_count;
    message.is_error = result->is_error;
    message.details = phi_str_of(result->details);
    message.loop_id = phi_str_of(result->child_loop_id);
    message.extension_data = phi_str_of(result->effects);
    return phi_message_copy(&message, arena);
}

PHI__FN phi_tool_result phi__results_given(const phi_message *message) {
    phi_tool_result result = PHI_ZERO;
    result.content = message->content;
    result.content_count = message->content_count;
    result.is_error = message->is_error;
    result.details = message->details.len > 0 ? message->details.at : NULL;
    result.child_loop_id = message->loop_id.len > 0 ? message->loop_id.at : NULL;
    result.effects = message->extension_data.len > 0 ? message->extension_data.at : NULL;
    return result;
}

/* ---- cutting ---- */

enum { PHI__CAP_SLICE_BYTES = 16384 };

/* The place of the cut: bytes [0, head) and [tail, all) stay. */
typedef struct phi__cap_place {
    size_t head, tail, all;
} phi__cap_place;

static size_t phi__cap_text_bytes(const phi_tool_result *result) {
    size_t bytes = 0;
    for (size_t i = 0; i < result->content_count; i++)
        if (result->content[i].kind == PHI_CONTENT_TEXT) bytes += result->content[i].text.len;
    return bytes;
}

static bool phi__cap_line(phi__buf *line, const phi_texts *texts, size_t left_out,
                          const char *path) {
    phi__texts_args args = PHI_ZERO;
    args.n = left_out;
    args.text = phi_str_of(path);
    phi__buf_char(line, '\n');
    phi__texts_put(line, texts, path != NULL ? PHI_TEXT_BYTES_CUT_KEPT : PHI_TEXT_BYTES_CUT, &args);
    phi__buf_char(line, '\n');
    return !line->failed;
}

/* Returns the first position from `at` at which a character begins. */
static size_t phi__cap_forward(phi_str text, size_t at) {
    size_t n = 0;
    while (n < 3 && at + n < text.len && ((unsigned char)text.at[at + n] & 0xc0) == 0x80) n++;
    return at + n;
}

/* Keeps `keep` bytes, half of them at the end. Both parts end between two characters. */
static phi__cap_place phi__cap_places(const phi_tool_result *result, size_t all, size_t keep) {
    phi__cap_place place;
    size_t at = 0;
    place.all = all;
    place.head = keep - keep / 2;
    place.tail = all - keep / 2;
    for (size_t i = 0; i < result->content_count; i++) {
        phi_str text = result->content[i].text;
        if (result->content[i].kind != PHI_CONTENT_TEXT) continue;
        if (place.head > at && place.head < at + text.len)
            place.head = at + phi__utf8_cut(text, place.head - at);
        if (place.tail > at && place.tail < at + text.len)
            place.tail = at + phi__cap_forward(text, place.tail - at);
        at += text.len;
    }
    return place;
}

/* Cuts the text block that begins at `at`, and inserts the line. */
static bool phi__cap_cut_text(phi_arena *arena, const phi__cap_place *place, size_t at,
                              phi_str line, phi_str *text) {
    size_t head = place->head > at ? phi__min(place->head - at, text->len) : 0;
    size_t tail = place->tail > at ? phi__min(place->tail - at, text->len) : 0;
    size_t n = phi__add(head + line.len, text->len - tail);
    char *out = (char *)phi_arena_alloc(arena, phi__add(n, 1));
    if (out == NULL) return false;
    memcpy(out, text->at, head);
    if (line.len > 0) memcpy(out + head, line.at, line.len);
    memcpy(out + head + line.len, text->at + tail, text->len - tail);
    out[n] = '\0';
    *text = phi__str(out, n);
    return true;
}

static bool phi__cap_texts(phi_arena *arena, const phi_tool_result *result,
                           const phi__cap_place *place, phi_str line, phi_content *out,
                           size_t *count) {
    size_t at = 0;
    for (size_t i = 0; i < result->content_count; i++) {
        phi_content *block = &out[*count];
        size_t begin = at;
        *block = result->content[i];
        (*count)++;
        if (block->kind != PHI_CONTENT_TEXT) continue;
        if (block->text.len == 0) { /* an empty block between missing texts is left out */
            if (at > place->head && at < place->tail) (*count)--;
            continue;
        }
        at += block->text.len;
        if (at <= place->head || begin >= place->tail) continue;
        if (!phi__cap_cut_text(arena, place, begin, line, &block->text)) return false;
        line.len = 0; /* only the first block that is cut gets the line */
        if (block->text.len == 0) (*count)--;
    }
    return true;
}

/* Returns the size of an image, a document or audio; 0 for other blocks. */
static uint64_t phi__cap_media_bytes(const phi_content *c) {
    uint64_t data = (uint64_t)(c->data.len / 4) * 3;
    if (c->kind == PHI_CONTENT_DOCUMENT) return data + c->text.len;
    return c->kind == PHI_CONTENT_IMAGE || c->kind == PHI_CONTENT_AUDIO ? data : 0;
}

PHI__FN bool phi__cap_too_large(const phi_content *c, uint32_t most) {
    return most != PHI_UNLIMITED && phi__cap_media_bytes(c) > most;
}

static bool phi__cap_media(phi_arena *arena, const phi_texts *texts, phi_content *content,
                           size_t count, uint32_t most) {
    char number[24];
    phi__texts_args args = PHI_ZERO;
    (void)snprintf(number, sizeof number, "%u", (unsigned)most);
    args.name = phi_str_of(number);
    for (size_t i = 0; i < count; i++) {
        phi_text which = content[i].kind == PHI_CONTENT_IMAGE      ? PHI_TEXT_IMAGE_CUT
                         : content[i].kind == PHI_CONTENT_DOCUMENT ? PHI_TEXT_DOCUMENT_CUT
                                                                   : PHI_TEXT_AUDIO_CUT;
        if (!phi__cap_too_large(&content[i], most)) continue;
        args.n = phi__cap_media_bytes(&content[i]);
        memset(&content[i], 0, sizeof content[i]);
        content[i].kind = PHI_CONTENT_TEXT;
        if (!phi__texts_make(arena, texts, which, &args, &content[i].text)) return false;
    }
    return true;
}

PHI__FN uint32_t phi__cap_most(const phi__toolcall *call) {
    uint32_t most = call->run->agent->desc.tool_options.max_result_bytes;
    if (call->tool == NULL || call->tool->max_result_bytes == 0) return most;
    /* PHI_UNLIMITED is the largest value */
    return (uint32_t)phi__min(most, call->tool->max_result_bytes);
}

/* Gives as much of the result as the limits allow, and frees the arena. path: the path of the file
   with the whole result, or NULL. */
static phi_status phi__cap_give(phi__toolcall *call, phi_arena *arena,
                                const phi_tool_result *result, const char *path,
                                phi__cap_give_fn give) {
    const phi_agent_desc *desc = &call->run->agent->desc;
    uint32_t most = phi__cap_most(call);
    size_t all = phi__cap_text_bytes(result), count = 0;
    phi__cap_place place = {all, all, all};
    phi_content *content =
        (phi_content *)phi_arena_alloc(arena, phi__mul(result->content_count, sizeof *content));
    bool good = content != NULL;
    phi__buf line;
    phi__buf_init(&line, arena->memory);
    if (good && most != PHI_UNLIMITED && all > most) {
        good = phi__cap_line(&line, desc->texts, all, path); /* measures the line */
        place = phi__cap_places(result, all, most > line.len ? most - line.len : 0);
        line.len = 0;
        good = good && phi__cap_line(&line, desc->texts, place.tail - place.head, path);
    }
    good = good && phi__cap_texts(arena, result, &place, phi__buf_str(&line), content, &count) &&
           phi__cap_media(arena, desc->texts, content, count,
                          desc->tool_options.max_result_image_bytes);
    phi__buf_free(&line);
    phi_tool_result cut = *result;
    cut.content = content;
    cut.content_count = count;
    phi_status status = give(call, good ? &cut : NULL);
    phi_arena_free(arena);
    return status;
}

PHI__FN void phi__cap_random(const phi__toolcall *call, unsigned char out[16]) {
    const phi__agent *agent = call->run->agent;
    unsigned char hash[32];
    uint64_t count = agent->thread->log.count;
    phi__sha256 sha;
    if (call->rt->tape == NULL) {
        phi__io_random(call->rt->io, out, 16);
        return;
    }
    phi__sha256_begin(&sha);
    phi__sha256_add(&sha, agent->agent_id.at, agent->agent_id.len);
    phi__sha256_add(&sha, call->run->loop_id.at, call->run->loop_id.len);
    phi__sha256_add(&sha, call->block->id.at, call->block->id.len);
    phi__sha256_add(&sha, &count, sizeof count);
    phi__sha256_end(&sha, hash);
    memcpy(out, hash, 16);
}

/* ---- the file with a whole result ----

   The file is written in slices, readable only by its owner (0600). Its name does not depend on the
   text: "phi-", the 32 digits of phi__cap_random, and the extension. A missing directory is
   created. An incomplete file is removed. While slices are missing, the call is claimed and its run
   is ready. With a tape the whole file is written at once, because a step processes all of its
   input. A recording tape gets the cut result. When a tape is played, no file is written. */

#ifndef PHI_NO_FILES

enum {
    PHI__CAP_TRIES = 100, /* numbers to try if the name is taken */
    PHI__CAP_NAME = 50    /* bytes for "/phi-", 32 digits, "-99", ".txt" and the terminator */
};

struct phi__cap {
    phi_arena arena;
    const phi_message *whole;
    phi_str *texts; /* the result's texts, with a line break between each two */
    size_t text_count;
    size_t text, at; /* position of the next piece */
    phi__file *file; /* closing an uncommitted file removes it */
    char *path;
    phi__cap_give_fn give;
};

/* Writes the path. A number above 0 becomes part of the name. `path` has room for the directory and
   a name. */
static void phi__cap_path(const char *directory, const unsigned char random[16], int number,
                          char *path) {
    size_t n = strlen(directory);
    memcpy(path, directory, n);
    n += (size_t)snprintf(path + n, PHI__CAP_NAME, "/phi-");
    for (size_t i = 0; i < 16; i++, n += 2)
        (void)snprintf(path + n, 3, "%02x", (unsigned)random[i]);
    if (number > 0) n += (size_t)snprintf(path + n, 5, "-%d", number);
    (void)snprintf(path + n, 5, ".txt");
}

static void phi__cap_warn(phi__toolcall *call, const char *why) {
    char words[400];
    (void)snprintf(words, sizeof words, "The whole result of %.*s could not be kept in %.200s: %s",
                   (int)phi__utf8_cut(call->block->name, 64), call->block->name.at,
                   call->run->agent->desc.tool_options.result_directory, why);
    (void)phi__events_warn_call(call->run->agent, call->block, phi_str_of(words));
}

static void phi__cap_free(phi__cap *cap) {
    phi_memory *memory = cap->arena.memory;
    phi__files_close(cap->file);
    phi_arena_free(&cap->arena);
    phi__free(memory, cap, sizeof *cap);
}

/* Copies the whole result into the cap's arena, and opens its file. If the name is taken, adds a
   number to the name. On failure returns PHI_NO_MEMORY, or a status of phi__files_open_new and a
   message in *words. */
static phi_status phi__cap_open(const phi__toolcall *call, phi__cap *cap,
                                const phi_tool_result *result, phi__words *words) {
    const char *directory = call->run->agent->desc.tool_options.result_directory;
    phi_memory *memory = cap->arena.memory;
    size_t n = result->content_count;
    unsigned char random[16];
    cap->whole = phi__results_keep(&cap->arena, result);
    cap->texts = (phi_str *)phi_arena_alloc(&cap->arena, phi__mul(2 * n, sizeof *cap->texts));
    cap->path = (char *)phi_arena_alloc(&cap->arena, phi__add(strlen(directory), PHI__CAP_NAME));
    if (cap->whole == NULL || cap->texts == NULL || cap->path == NULL) return PHI_NO_MEMORY;
    for (size_t i = 0; i < n; i++) {
        if (cap->whole->content[i].kind != PHI_CONTENT_TEXT) continue;
        if (cap->text_count > 0) cap->texts[cap->text_count++] = PHI__LIT("\n");
        cap->texts[cap->text_count++] = cap->whole->content[i].text;
    }
    phi_status status = PHI_BUSY;
    phi__cap_random(call, random);
    words->text[0] = '\0';
    for (int i = 0; i < PHI__CAP_TRIES && status == PHI_BUSY; i++) {
        phi__cap_path(directory, random, i, cap->path);
        status = phi__files_open_new(memory, cap->path, &cap->file, words);
        if (status == PHI_NOT_FOUND && phi__files_make_directories(directory, words) == PHI_OK)
            status = phi__files_open_new(memory, cap->path, &cap->file, words);
    }
    return status;
}

/* Gives the result. path: the path of the complete file; NULL: there will be no file. */
static void phi__cap_over(phi__toolcall *call, const char *path) {
    phi__cap *cap = call->cap;
    phi_tool_result whole = phi__results_given(cap->whole);
    phi_arena arena;
    phi_arena_init(&arena, cap->arena.memory, 0);
    call->cap = NULL;
    (void)phi__cap_give(call, &arena, &whole, path, cap->give);
    phi__cap_free(cap);
}

/* Writes up to `bytes` bytes. PHI_BUSY: there is more. PHI_OK: the file is complete. */
static phi_status phi__cap_slice(phi__cap *cap, size_t bytes, phi__words *words) {
    for (; cap->text < cap->text_count; cap->text++, cap->at = 0) {
        phi_str text = cap->texts[cap->text];
        size_t n = phi__min(bytes, text.len - cap->at);
        if (cap->at < text.len && n == 0) return PHI_BUSY;
        phi_status status =
            n > 0 ? phi__files_write(cap->file, text.at + cap->at, n, words) : PHI_OK;
        if (status != PHI_OK) return status;
        bytes -= n;
        cap->at += n;
        if (cap->at < text.len) return PHI_BUSY;
    }
    return phi__files_commit(cap->file, words);
}

/* Writes as much as the slice allows, or all. False: there is more to write. */
static bool phi__cap_write(phi__toolcall *call, bool all) {
    phi__cap *cap = call->cap;
    phi__words words;
    phi_status status = PHI_BUSY;
    words.text[0] = '\0';
    while (status == PHI_BUSY && (all || !phi__slice_spent(&call->rt->slice))) {
        status = phi__cap_slice(cap, PHI__CAP_SLICE_BYTES, &words);
        phi__slice_took(&call->rt->slice, PHI__CAP_SLICE_BYTES);
    }
    if (status == PHI_BUSY) return false;
    if (status != PHI_OK) phi__cap_warn(call, words.text);
    phi__files_close(cap->file); /* close the file before the model reads its name */
    cap->file = NULL;
    phi__cap_over(call, status == PHI_OK ? cap->path : NULL);
    return true;
}

/* True if a file is needed: the texts are too long, and no other result will replace this one. */
static bool phi__cap_wants_file(const phi__toolcall *call, const phi_tool_result *result) {
    uint32_t most = phi__cap_most(call);
    if (call->run->agent->desc.tool_options.result_directory == NULL || most == PHI_UNLIMITED)
        return false;
    if (phi__cap_text_bytes(result) <= most || call->run->end.cancelled) return false;
    return !result->is_error || call->tool == NULL || call->tries >= call->tool->retries;
}

#endif

PHI__FN phi_status phi__cap_begin(phi__toolcall *call, const phi_tool_result *result,
                                  phi__cap_give_fn give) {
    phi_memory *memory = &call->run->agent->memory;
    const char *path = NULL;
    phi_arena arena;
    phi_arena_init(&arena, memory, 0);
#ifndef PHI_NO_FILES
    const phi_tape *tape = call->rt->tape;
    if (phi__cap_wants_file(call, result) && tape != NULL && tape->plays) {
        /* the file's name at the time of the recording */
        const char *directory = call->run->agent->desc.tool_options.result_directory;
        unsigned char random[16];
        char *name = (char *)phi_arena_alloc(&arena, phi__add(strlen(directory), PHI__CAP_NAME));
        phi__cap_random(call, random);
        if (name != NULL) phi__cap_path(directory, random, 0, name);
        path = name;
    } else if (phi__cap_wants_file(call, result)) {
        phi__cap *cap = (phi__cap *)phi__alloc(memory, sizeof *cap);
        phi_status status = PHI_NO_MEMORY;
        phi__words why;
        if (cap != NULL) {
            phi_arena_init(&cap->arena, memory, 0);
            cap->give = give;
            status = phi__cap_open(call, cap, result, &why);
        }
        if (status == PHI_OK) {
            call->cap = cap;
            if (tape != NULL)
                (void)phi__cap_write(call, true);
            else
                phi__schedule_wake(call->run);
            return PHI_OK;
        }
        if (cap != NULL) phi__cap_free(cap);
        phi__cap_warn(call, status == PHI_NO_MEMORY ? phi_status_text(status) : why.text);
    }
#endif
    return phi__cap_give(call, &arena, result, path, give);
}

PHI__FN void phi__cap_more(phi__toolcall *call) {
    (void)call;
#ifndef PHI_NO_FILES
    if (call->run->end.cancelled)
        phi__cap_over(call, NULL);
    else if (!phi__cap_write(call, false))
        phi__schedule_wake(call->run);
#endif
}

PHI__FN void phi__cap_finish(phi__toolcall *call) {
    (void)call;
#ifndef PHI_NO_FILES
    (void)phi__cap_write(call, true);
#endif
}

PHI__FN void phi__cap_drop(phi__toolcall *call) {
    (void)call;
#ifndef PHI_NO_FILES
    phi__cap_free(call->cap);
    call->cap = NULL;
#endif
}
