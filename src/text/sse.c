/* sse.c - parses server-sent events incrementally. */
#include "text/json_in.h"

#define PHI__SSE_KEEP 4096u /* bytes; a larger buffer is freed after each event */

static void phi__sse_slim(phi__buf *buf) {
    if (buf->cap > PHI__SSE_KEEP)
        phi__buf_free(buf);
    else
        phi__buf_clear(buf);
}

/* Drops the current event, or the one that was returned. */
static void phi__sse_forget(phi__sse *sse) {
    phi__sse_slim(&sse->data);
    phi__sse_slim(&sse->name);
    sse->view = phi__str(NULL, 0);
    sse->has_data = sse->viewed = sse->stray = false;
}

static int phi__sse_fail(phi__sse *sse, phi_status status) {
    sse->status = status;
    phi__buf_free(&sse->line);
    phi__buf_free(&sse->data);
    phi__buf_free(&sse->name);
    sse->at = sse->end;
    return status;
}

/* Copies the viewed line, because the fed bytes that contain it do not stay. */
static bool phi__sse_keep_view(phi__sse *sse) {
    if (sse->viewed) phi__buf_add_str(&sse->data, sse->view);
    sse->viewed = false;
    return !sse->data.failed;
}

/* Adds a data line. `stays`: the line is in the fed bytes, not in sse->line. */
static phi_status phi__sse_data(phi__sse *sse, phi_str value, bool stays) {
    size_t had = sse->viewed ? sse->view.len : sse->data.len;
    if (had + sse->name.len + value.len + (sse->has_data ? 1 : 0) > sse->max_event_bytes)
        return PHI_TOO_BIG;
    if (!sse->has_data && stays) {
        sse->view = value;
        sse->has_data = sse->viewed = true;
        return PHI_OK;
    }
    if (!sse->has_data) { /* the line's buffer becomes the data buffer */
        phi__buf line = sse->line;
        sse->line = sse->data;
        sse->data = line;
        phi__buf_drop(&sse->data, (size_t)(value.at - line.at));
        sse->has_data = true;
        return PHI_OK;
    }
    if (!phi__sse_keep_view(sse)) return PHI_NO_MEMORY;
    phi__buf_char(&sse->data, '\n');
    phi__buf_add_str(&sse->data, value);
    return sse->data.failed ? PHI_NO_MEMORY : PHI_OK;
}

static phi_status phi__sse_name(phi__sse *sse, phi_str value) {
    size_t had = sse->viewed ? sse->view.len : sse->data.len;
    if (had + value.len > sse->max_event_bytes) return PHI_TOO_BIG;
    phi__buf_clear(&sse->name);
    phi__buf_add_str(&sse->name, value);
    return sse->name.failed ? PHI_NO_MEMORY : PHI_OK;
}

static bool phi__sse_is_bare(phi_str line) { return line.at[0] == '{' || line.at[0] == '['; }

/* True if a line ends the current event as a blank line does: stray JSON after data lines, or a
   "data" or "event" line after stray JSON. */
static bool phi__sse_breaks(const phi__sse *sse, phi_str line) {
    if (!sse->strays || !sse->has_data) return false;
    if (!sse->stray) return phi__sse_is_bare(line);
    return phi__str_starts(line, "data:") || phi__str_starts(line, "event:");
}

/* ---- ids and retries ---- */

PHI__FN void phi__sse_resume_init(phi__sse_resume *resume, phi_memory *memory) {
    memset(resume, 0, sizeof *resume);
    phi__buf_init(&resume->id, memory);
    phi__buf_init(&resume->id_next, memory);
}

PHI__FN void phi__sse_resume_free(phi__sse_resume *resume) {
    phi__buf_free(&resume->id);
    phi__buf_free(&resume->id_next);
    resume->has_next = false;
}

static phi_status phi__sse_resumes(phi__sse_resume *resume, phi_str field, phi_str value) {
    uint64_t ms;
    if (phi__str_is(field, "id")) {
        /* An id with a NUL is ignored, as the standard says. An id that is too long to be sent back
           clears the id, because an older id would repeat events. */
        if (value.len > 0 && memchr(value.at, '\0', value.len) != NULL) return PHI_OK;
        phi__buf_clear(&resume->id_next);
        if (value.len <= PHI__SSE_ID_MOST) phi__buf_add_str(&resume->id_next, value);
        resume->has_next = true;
        return resume->id_next.failed ? PHI_NO_MEMORY : PHI_OK;
    }
    if (phi__str_is(field, "retry") && phi__str_to_u64(value, &ms)) {
        resume->retry_ms = ms;
        resume->has_retry = true;
    }
    return PHI_OK;
}

/* ---- lines ---- */

static phi_status phi__sse_line(phi__sse *sse, phi_str line, bool stays) {
    const char *colon = (const char *)memchr(line.at, ':', line.len);
    phi_str field = line, value = phi__str(line.at + line.len, 0);
    if (sse->strays && phi__sse_is_bare(line)) sse->stray = true;
    if (sse->stray) return phi__sse_data(sse, line, stays);
    if (colon == line.at) {
        sse->comments++;
        return PHI_OK;
    }
    if (colon != NULL) {
        size_t skip = 1;
        field.len = (size_t)(colon - line.at);
        if (field.len + 1 < line.len && colon[1] == ' ') skip = 2;
        value = phi__str(colon + skip, line.len - field.len - skip);
    }
    if (field.len == 4 && memcmp(field.at, "data", 4) == 0) return phi__sse_data(sse, value, stays);
    if (field.len == 5 && memcmp(field.at, "event", 5) == 0) return phi__sse_name(sse, value);
    if (field.len == 5 && memcmp(field.at, "error", 5) == 0) { /* old llama.cpp: "error: {...}" */
        phi_status status = phi__sse_name(sse, field);
        return status == PHI_OK ? phi__sse_data(sse, value, stays) : status;
    }
    return sse->resume != NULL ? phi__sse_resumes(sse->resume, field, value) : PHI_OK;
}

/* Completes the current event at a blank line or at the end. Returns 1, or 0 if it has no data. */
static int phi__sse_complete(phi__sse *sse, phi__sse_event *out) {
    /* The id of the current event now counts. */
    phi__sse_resume *resume = sse->resume;
    if (resume != NULL && resume->has_next) {
        phi__buf id = resume->id;
        resume->id = resume->id_next;
        resume->id_next = id;
        resume->has_next = false;
    }
    if (!sse->has_data) {
        phi__sse_forget(sse);
        return 0;
    }
    out->name = phi__buf_str(&sse->name);
    out->data = sse->viewed ? sse->view : phi__buf_str(&sse->data);
    sse->handed = true;
    sse->events++;
    return 1;
}

/* Skips a byte order mark, which may come in pieces. If the mark is not complete, its bytes begin
   the first line. */
static bool phi__sse_mark(phi__sse *sse) {
    static const char mark[] = "\xEF\xBB\xBF";
    while (sse->bom < 3 && sse->at < sse->end) {
        if (*sse->at != mark[sse->bom]) {
            phi__buf_add(&sse->line, mark, sse->bom);
            sse->bom = 3;
            return !sse->line.failed;
        }
        sse->at++;
        sse->bom++;
    }
    return true;
}

PHI__FN void phi__sse_init(phi__sse *sse, phi_memory *memory, size_t max_event_bytes) {
    memset(sse, 0, sizeof *sse);
    phi__buf_init(&sse->line, memory);
    phi__buf_init(&sse->data, memory);
    phi__buf_init(&sse->name, memory);
    sse->max_event_bytes = max_event_bytes == 0 ? PHI__SSE_EVENT_MOST : max_event_bytes;
}

PHI__FN void phi__sse_free(phi__sse *sse) {
    phi__buf_free(&sse->line);
    phi__buf_free(&sse->data);
    phi__buf_free(&sse->name);
    phi__sse_init(sse, sse->line.memory, sse->max_event_bytes);
}

PHI__FN void phi__sse_resume_with(phi__sse *sse, phi__sse_resume *resume) {
    sse->resume = resume;
    resume->has_next = false;
}

PHI__FN void phi__sse_feed(phi__sse *sse, const char *bytes, size_t len) {
    PHI_ASSERT(sse->at == sse->end);
    if (sse->handed) {
        phi__sse_forget(sse);
        sse->handed = false;
    }
    sse->at = bytes;
    sse->end = bytes + len;
    if (sse->status != PHI_OK) sse->at = sse->end;
}

PHI__FN int phi__sse_next(phi__sse *sse, phi__sse_event *out) {
    if (sse->status != PHI_OK) return sse->status;
    if (sse->handed) {
        phi__sse_forget(sse);
        sse->handed = false;
    }
    if (sse->bom < 3 && !phi__sse_mark(sse)) return phi__sse_fail(sse, PHI_NO_MEMORY);
    while (sse->at < sse->end) {
        bool stays = sse->line.len == 0;
        if (sse->skip_lf) {
            sse->skip_lf = false;
            if (*sse->at == '\n') {
                sse->at++;
                continue;
            }
        }
        const char *at = sse->at;
        const char *end = sse->end;
        const char *lf = (const char *)memchr(at, '\n', (size_t)(end - at));
        const char *cr = (const char *)memchr(at, '\r', (size_t)((lf != NULL ? lf : end) - at));
        const char *stop = cr != NULL ? cr : lf;
        if (stop == NULL) {
            /* Copies the rest of the fed bytes into sse->line; the next bytes continue the line. */
            size_t left = (size_t)(sse->end - sse->at);
            /* 64 bytes are more than the field's name needs */
            if (phi__add(sse->line.len, left) > phi__add(sse->max_event_bytes, 64))
                return phi__sse_fail(sse, PHI_TOO_BIG);
            phi__buf_add(&sse->line, sse->at, left);
            sse->at = sse->end;
            if (sse->line.failed || !phi__sse_keep_view(sse))
                return phi__sse_fail(sse, PHI_NO_MEMORY);
            return 0;
        }
        phi_str line = phi__str(sse->at, (size_t)(stop - sse->at));
        if (!stays) {
            phi__buf_add_str(&sse->line, line);
            if (sse->line.failed) return phi__sse_fail(sse, PHI_NO_MEMORY);
            line = phi__buf_str(&sse->line);
        }
        if (line.len > 0 && phi__sse_breaks(sse, line)) {
            if (!stays) sse->at = stop; /* the line is read again in the next call */
            return phi__sse_complete(sse, out);
        }
        /* Continues after the line break at `stop`. After a CR the next byte may be an LF. */
        sse->skip_lf = *stop == '\r';
        sse->at = stop + 1;
        if (line.len == 0) {
            if (!sse->stray && phi__sse_complete(sse, out) != 0) return 1;
            continue;
        }
        phi_status status = phi__sse_line(sse, line, stays);
        if (status != PHI_OK) return phi__sse_fail(sse, status);
        if (!stays) phi__sse_slim(&sse->line);
    }
    return phi__sse_keep_view(sse) ? 0 : phi__sse_fail(sse, PHI_NO_MEMORY);
}

PHI__FN int phi__sse_finish(phi__sse *sse, phi__sse_event *out) {
    if (sse->status != PHI_OK) return sse->status;
    if (sse->handed) phi__sse_forget(sse);
    sse->handed = false;
    if (sse->bom == 1 || sse->bom == 2) phi__buf_add(&sse->line, "\xEF\xBB\xBF", sse->bom);
    sse->bom = 3;
    if (sse->line.len > 0) {
        if (phi__sse_breaks(sse, phi__buf_str(&sse->line))) return phi__sse_complete(sse, out);
        phi_status status = phi__sse_line(sse, phi__buf_str(&sse->line), false);
        phi__sse_slim(&sse->line);
        if (status != PHI_OK) return phi__sse_fail(sse, status);
    }
    return phi__sse_complete(sse, out);
}
