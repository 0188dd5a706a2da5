/* cap.c - results cut to max_result_bytes: their texts are taken as one, of which head and tail
   stay, with a line between them that counts the missing bytes; a line replaces an image, a
   document or audio that is too large. */
#include "loop/inner_in.h"

#include <stdio.h>

#ifndef PHI_NO_FILES
typedef struct phi__spill phi__spill;

typedef struct phi__spill_desc {
    const char *directory; /* terminated; copied */
    const char *ending;    /* of the name: ".txt"; copied */
    unsigned char random[16];
    const phi_str *texts; /* written one behind the other; borrowed until phi__spill_free */
    size_t text_count;
} phi__spill_desc;

#endif

enum { PHI__SPILL_NAME_BYTES = 40 }; /* "/phi-", 32 digits, and the terminator, with room */

#ifndef PHI_NO_FILES
static void phi__spill_free(phi__spill *spill);
#endif

/* ======== A tool's result as a message, where it must outlive the function that gave it. */

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

/* ======== A text written to a new file in slices: the whole of a result that a model sees
   cut.

   The file is made for its owner alone (0600), under a name of its own that says nothing of the
   text: "phi-", the 32 digits of `random`, and the ending. A directory that is missing is made. A
   file that does not become complete is removed. */

/* "/phi-" and the digits, terminated. */
static void phi__spill_name(const unsigned char random[16], char out[PHI__SPILL_NAME_BYTES]) {
    memcpy(out, "/phi-", 5);
    for (size_t i = 0; i < 16; i++) (void)snprintf(out + 5 + 2 * i, 3, "%02x", (unsigned)random[i]);
}

#ifndef PHI_NO_FILES

enum { PHI__SPILL_TRIES = 100, PHI__SPILL_NUMBER = 8 /* "-99" and the terminator, with room */ };

struct phi__spill {
    phi_memory *memory;
    phi__file *file; /* NULL: complete, or it failed */
    phi_status status;
    const phi_str *texts;
    size_t text_count;
    size_t text, at; /* where the next piece begins */
    char *path;
    size_t path_bytes;
};

/* A name that is taken gets a number. */
static phi_status phi__spill_open(phi__spill *spill, const phi__spill_desc *desc,
                                  phi__words *words) {
    char name[PHI__SPILL_NAME_BYTES], number[PHI__SPILL_NUMBER] = "";
    phi_status status = PHI_BUSY;
    phi__spill_name(desc->random, name);
    for (int i = 0; i < PHI__SPILL_TRIES && status == PHI_BUSY; i++) {
        if (i > 0) (void)snprintf(number, sizeof number, "-%d", i);
        (void)snprintf(spill->path, spill->path_bytes, "%s%s%s%s", desc->directory, name, number,
                       desc->ending);
        status = phi__files_open_new(spill->memory, spill->path, &spill->file, words);
        if (status == PHI_NOT_FOUND &&
            phi__files_make_directories(desc->directory, words) == PHI_OK)
            status = phi__files_open_new(spill->memory, spill->path, &spill->file, words);
    }
    return status;
}

/* A file that is not committed is removed. */
static phi_status phi__spill_end(phi__spill *spill, phi_status status) {
    phi__files_close(spill->file);
    spill->file = NULL;
    return spill->status = status;
}

/* ---- for other modules ---- */

/* Opens the file. PHI_NO_MEMORY, or as files_in.h has it, with words. */
static phi_status phi__spill_new(phi_memory *memory, const phi__spill_desc *desc, phi__spill **out,
                                 phi__words *words) {
    phi__spill *spill = (phi__spill *)phi__alloc(memory, sizeof *spill);
    phi_status status = PHI_NO_MEMORY;
    *out = NULL;
    words->text[0] = '\0';
    if (spill == NULL) return PHI_NO_MEMORY;
    spill->memory = memory;
    spill->texts = desc->texts;
    spill->text_count = desc->text_count;
    spill->path_bytes = phi__add(strlen(desc->directory) + strlen(desc->ending),
                                 (size_t)PHI__SPILL_NAME_BYTES + (size_t)PHI__SPILL_NUMBER);
    spill->path = (char *)phi__alloc(memory, spill->path_bytes);
    if (spill->path != NULL) status = phi__spill_open(spill, desc, words);
    if (status == PHI_OK)
        *out = spill;
    else
        phi__spill_free(spill);
    return status;
}

/* Writes up to `bytes` more. PHI_BUSY: come again; PHI_OK: the file is complete and closed; else
   refused, and it will not become complete. */
static phi_status phi__spill_more(phi__spill *spill, size_t bytes, phi__words *words) {
    phi_status status;
    if (spill->file == NULL) return spill->status;
    while (spill->text < spill->text_count) {
        const phi_str *text = &spill->texts[spill->text];
        size_t n = phi__min(bytes, text->len - spill->at);
        if (spill->at < text->len && n == 0) return PHI_BUSY;
        status = n > 0 ? phi__files_write(spill->file, text->at + spill->at, n, words) : PHI_OK;
        if (status != PHI_OK) return phi__spill_end(spill, status);
        bytes -= n;
        spill->at += n;
        if (spill->at < text->len) return PHI_BUSY;
        spill->text++;
        spill->at = 0;
    }
    status = phi__files_commit(spill->file, words);
    return phi__spill_end(spill, status);
}

/* Terminated; valid until phi__spill_free. */
static const char *phi__spill_path(const phi__spill *spill) { return spill->path; }

/* NULL is harmless */
static void phi__spill_free(phi__spill *spill) {
    if (spill == NULL) return;
    phi__files_close(spill->file);
    phi__free(spill->memory, spill->path, spill->path_bytes);
    phi__free(spill->memory, spill, sizeof *spill);
}

#endif

/* ======== A result that is larger than its agent allows: cut, and the whole kept in a file.

   The call is claimed meanwhile, and its run is ready, so that the file is written slice by slice.
   With a tape the whole of it is written at once: a step processes all of its input. A tape that
   is recorded gets the cut result, and one that is played writes no file. */

enum { PHI__CAP_SLICE_BYTES = 16384 };

/* Where the texts of a result are cut: [0, head) and [tail, all) stay. */
typedef struct phi__cap_place {
    size_t head, tail, all;
} phi__cap_place;

static size_t phi__cap_text_bytes(const phi_tool_result *result) {
    size_t bytes = 0;
    for (size_t i = 0; i < result->content_count; i++)
        if (result->content[i].kind == PHI_CONTENT_TEXT) bytes += result->content[i].text.len;
    return bytes;
}

/* ---- the line ---- */

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

/* ---- cutting ---- */

/* The first place from `at` on where a character begins. */
static size_t phi__cap_forward(phi_str text, size_t at) {
    size_t n = 0;
    while (n < 3 && at + n < text.len && ((unsigned char)text.at[at + n] & 0xc0) == 0x80) n++;
    return at + n;
}

/* Room for `keep` bytes, half of them of the end; moved to where characters begin. */
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

/* The part kept of the text block that begins at `at`, with the line where `first`. */
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
        if (block->text.len == 0) { /* as those beside it */
            if (at > place->head && at < place->tail) (*count)--;
            continue;
        }
        at += block->text.len;
        if (at <= place->head || begin >= place->tail) continue;
        if (!phi__cap_cut_text(arena, place, begin, line, &block->text)) return false;
        line.len = 0; /* it stands in the first block that is cut */
        if (block->text.len == 0) (*count)--;
    }
    return true;
}

/* The bytes of an image, a document or audio; 0 for other blocks. */
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
    return (uint32_t)phi__min(most, call->tool->max_result_bytes); /* PHI_UNLIMITED: the largest */
}

/* *out: as much of the result as agent and tool allow, in the arena or borrowed. path: of the file
   with all of it, or NULL. */
static bool phi__cap_cut(phi__toolcall *call, phi_arena *arena, const phi_tool_result *result,
                         const char *path, phi_tool_result *out) {
    const phi_texts *texts = call->run->agent->desc.texts;
    uint32_t most = phi__cap_most(call);
    size_t all = phi__cap_text_bytes(result), count = 0;
    phi__cap_place place = {0, 0, 0};
    phi__buf line;
    bool good = true;
    phi_content *content =
        (phi_content *)phi_arena_alloc(arena, phi__mul(result->content_count, sizeof *content));
    if (content == NULL) return false;
    phi__buf_init(&line, arena->memory);
    place.head = place.tail = place.all = all;
    if (most != PHI_UNLIMITED && all > most) {
        good = phi__cap_line(&line, texts, all, path); /* at its longest: its room */
        place = phi__cap_places(result, all, most > line.len ? most - line.len : 0);
        line.len = 0;
        good = good && phi__cap_line(&line, texts, place.tail - place.head, path);
    }
    good = good && phi__cap_texts(arena, result, &place, phi__buf_str(&line), content, &count) &&
           phi__cap_media(arena, texts, content, count,
                          call->run->agent->desc.tool_options.max_result_image_bytes);
    phi__buf_free(&line);
    *out = *result;
    out->content = content;
    out->content_count = count;
    return good;
}

/* Cuts and gives it; the arena is freed. */
static phi_status phi__cap_give(phi__toolcall *call, phi_arena *arena,
                                const phi_tool_result *result, const char *path,
                                phi__cap_give_fn give) {
    phi_tool_result cut;
    phi_status status =
        phi__cap_cut(call, arena, result, path, &cut) ? give(call, &cut) : give(call, NULL);
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

/* ---- the file ---- */

#ifndef PHI_NO_FILES

struct phi__cap {
    phi_arena arena;
    const phi_message *whole;
    phi_str *texts; /* of the whole, with a line break between two */
    size_t text_count;
    phi__spill *spill;
    phi__cap_give_fn give;
};

static void phi__cap_warn(phi__toolcall *call, const char *why) {
    const phi__agent *agent = call->run->agent;
    char words[400];
    (void)snprintf(words, sizeof words, "The whole result of %.*s could not be kept in %.200s: %s",
                   (int)phi__utf8_cut(call->block->name, 64), call->block->name.at,
                   agent->desc.tool_options.result_directory, why);
    phi_event event = PHI_ZERO;
    event.kind = PHI_EV_WARNING;
    event.tool_call_id = call->block->id;
    event.tool_name = call->block->name;
    event.text = phi_str_of(words);
    (void)phi__events_emit(call->run->agent, &event, NULL, 0);
}

static bool phi__cap_list_texts(phi__cap *cap) {
    size_t n = cap->whole->content_count;
    cap->texts = (phi_str *)phi_arena_alloc(&cap->arena, phi__mul(2 * n, sizeof *cap->texts));
    if (cap->texts == NULL) return false;
    for (size_t i = 0; i < n; i++) {
        if (cap->whole->content[i].kind != PHI_CONTENT_TEXT) continue;
        if (cap->text_count > 0) cap->texts[cap->text_count++] = PHI__LIT("\n");
        cap->texts[cap->text_count++] = cap->whole->content[i].text;
    }
    return true;
}

static phi_status phi__cap_open(phi__toolcall *call, phi__cap *cap, phi__words *words) {
    phi__spill_desc desc = PHI_ZERO;
    desc.directory = call->run->agent->desc.tool_options.result_directory;
    desc.ending = ".txt";
    phi__cap_random(call, desc.random);
    desc.texts = cap->texts;
    desc.text_count = cap->text_count;
    return phi__spill_new(cap->arena.memory, &desc, &cap->spill, words);
}

static void phi__cap_free(phi__cap *cap) {
    phi_memory *memory = cap->arena.memory;
    phi__spill_free(cap->spill);
    phi_arena_free(&cap->arena);
    phi__free(memory, cap, sizeof *cap);
}

/* The file is complete (path) or will not be (NULL). */
static phi_status phi__cap_over(phi__toolcall *call, const char *path) {
    phi__cap *cap = call->cap;
    phi_tool_result whole = phi__results_given(cap->whole);
    phi_arena arena;
    phi_arena_init(&arena, cap->arena.memory, 0);
    call->cap = NULL;
    phi_status status = phi__cap_give(call, &arena, &whole, path, cap->give);
    phi__cap_free(cap);
    return status;
}

/* As much as the step allows, or all; false: there is more to write. */
static bool phi__cap_write(phi__toolcall *call, bool all) {
    phi__cap *cap = call->cap;
    phi__words words;
    phi_status status = PHI_BUSY;
    words.text[0] = '\0';
    while (status == PHI_BUSY && (all || !phi__slice_spent(&call->rt->slice))) {
        status = phi__spill_more(cap->spill, PHI__CAP_SLICE_BYTES, &words);
        phi__slice_took(&call->rt->slice, PHI__CAP_SLICE_BYTES);
    }
    if (status == PHI_BUSY) return false;
    if (status != PHI_OK) phi__cap_warn(call, words.text);
    (void)phi__cap_over(call, status == PHI_OK ? phi__spill_path(cap->spill) : NULL);
    return true;
}

/* A file is worth it: the texts are too long, and the result is the call's last one. */
static bool phi__cap_wants_file(const phi__toolcall *call, const phi_tool_result *result) {
    uint32_t most = phi__cap_most(call);
    if (call->run->agent->desc.tool_options.result_directory == NULL || most == PHI_UNLIMITED)
        return false;
    if (phi__cap_text_bytes(result) <= most || call->run->end.cancelled) return false;
    return !result->is_error || call->tool == NULL || call->tries >= call->tool->retries;
}

/* The name that the file had when the tape was recorded. */
static phi_status phi__cap_play(phi__toolcall *call, const phi_tool_result *result,
                                phi__cap_give_fn give) {
    char name[PHI__SPILL_NAME_BYTES];
    unsigned char random[16];
    phi_arena arena;
    phi__buf path;
    phi_arena_init(&arena, &call->run->agent->memory, 0);
    phi__cap_random(call, random);
    phi__spill_name(random, name);
    phi__buf_init(&path, arena.memory);
    phi__buf_text(&path, call->run->agent->desc.tool_options.result_directory);
    phi__buf_text(&path, name);
    phi__buf_text(&path, ".txt");
    phi__buf_char(&path, '\0');
    phi_status status = phi__cap_give(call, &arena, result, path.failed ? NULL : path.at, give);
    phi__buf_free(&path);
    return status;
}

/* False: no memory, or no file: *why. */
static bool phi__cap_start(phi__toolcall *call, const phi_tool_result *result,
                           phi__cap_give_fn give, phi__words *why) {
    phi_memory *memory = &call->run->agent->memory;
    phi__cap *cap = (phi__cap *)phi__alloc(memory, sizeof *cap);
    (void)snprintf(why->text, sizeof why->text, "%s", phi_status_text(PHI_NO_MEMORY));
    if (cap == NULL) return false;
    phi_arena_init(&cap->arena, memory, 0);
    cap->give = give;
    cap->whole = phi__results_keep(&cap->arena, result);
    if (cap->whole == NULL || !phi__cap_list_texts(cap) ||
        phi__cap_open(call, cap, why) != PHI_OK) {
        phi__cap_free(cap);
        return false;
    }
    call->cap = cap;
    return true;
}

#endif

/* ---- for other modules ---- */

PHI__FN phi_status phi__cap_begin(phi__toolcall *call, const phi_tool_result *result,
                                  phi__cap_give_fn give) {
    phi_arena arena;
#ifndef PHI_NO_FILES
    phi__words why;
    bool wants = phi__cap_wants_file(call, result);
    if (wants && call->rt->tape != NULL && call->rt->tape->plays)
        return phi__cap_play(call, result, give);
    if (wants && phi__cap_start(call, result, give, &why)) {
        if (call->rt->tape != NULL)
            (void)phi__cap_write(call, true);
        else
            phi__schedule_wake(call->run);
        return PHI_OK;
    }
    if (wants) phi__cap_warn(call, why.text);
#endif
    phi_arena_init(&arena, &call->run->agent->memory, 0);
    return phi__cap_give(call, &arena, result, NULL, give);
}

PHI__FN void phi__cap_more(phi__toolcall *call) {
#ifndef PHI_NO_FILES
    if (call->run->end.cancelled)
        (void)phi__cap_over(call, NULL);
    else if (!phi__cap_write(call, false))
        phi__schedule_wake(call->run);
#else
    (void)call;
#endif
}

PHI__FN void phi__cap_finish(phi__toolcall *call) {
#ifndef PHI_NO_FILES
    (void)phi__cap_write(call, true);
#else
    (void)call;
#endif
}

PHI__FN void phi__cap_drop(phi__toolcall *call) {
#ifndef PHI_NO_FILES
    phi__cap_free(call->cap);
    call->cap = NULL;
#else
    (void)call;
#endif
}
