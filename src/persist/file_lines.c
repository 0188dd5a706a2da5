/* file_lines.c - one line of a thread's file, written and read: its check value, its number, its
   entry. file_threads.c shows some. */
#include "persist/file_store_in.h"

#ifndef PHI_NO_FILES

#include "base/crc32_in.h"

enum { PHI__FILE_LINES_CRC = 18 }; /* bytes of {"crc":"xxxxxxxx", */

/* The eight digits of the check of a line. */
static void phi__file_lines_digits(const char *line, size_t len, char *out) {
    static const char digits[] = "0123456789abcdef";
    uint32_t crc = phi__crc32(0, line + PHI__FILE_LINES_CRC, len - PHI__FILE_LINES_CRC);
    int i;
    for (i = 0; i < 8; i++) out[i] = digits[crc >> (28 - 4 * i) & 15];
}

/* The check at the head of the line that begins at `from`, and the line's end. */
static void phi__file_lines_seal(phi__buf *out, size_t from) {
    if (out->failed) return;
    phi__file_lines_digits(out->at + from, out->len - from, out->at + from + 8);
    phi__buf_char(out, '\n');
}

PHI__FN void phi__file_lines_put_header(phi__buf *out) {
    size_t from = out->len;
    phi__buf_text(out, "{\"crc\":\"00000000\",\"phi_thread\":1}");
    phi__file_lines_seal(out, from);
}

PHI__FN void phi__file_lines_put(phi__buf *out, uint64_t seq, uint64_t first, uint64_t last,
                                 phi_str entry) {
    size_t from = out->len;
    phi__buf_text(out, "{\"crc\":\"00000000\",\"seq\":");
    phi__buf_u64(out, seq);
    if (first != last) {
        phi__buf_text(out, ",\"of\":[");
        phi__buf_u64(out, first);
        phi__buf_char(out, ',');
        phi__buf_u64(out, last);
        phi__buf_char(out, ']');
    }
    phi__buf_text(out, ",\"e\":");
    phi__buf_add_str(out, entry);
    phi__buf_char(out, '}');
    phi__file_lines_seal(out, from);
}

/* Whether the line is as it was written. */
PHI__FN bool phi__file_lines_checks(phi_str line) {
    char digits[8];
    if (line.len <= PHI__FILE_LINES_CRC || memcmp(line.at, "{\"crc\":\"", 8) != 0 ||
        memcmp(line.at + 16, "\",", 2) != 0)
        return false;
    phi__file_lines_digits(line.at, line.len, digits);
    return memcmp(line.at + 8, digits, 8) == 0;
}

static bool phi__file_lines_word(phi_str *rest, const char *word) {
    size_t n = strlen(word);
    if (rest->len < n || memcmp(rest->at, word, n) != 0) return false;
    *rest = phi__str(rest->at + n, rest->len - n);
    return true;
}

static bool phi__file_lines_number(phi_str *rest, uint64_t *out) {
    size_t n = 0;
    while (n < rest->len && rest->at[n] >= '0' && rest->at[n] <= '9') n++;
    if (!phi__str_to_u64(phi__str(rest->at, n), out)) return false;
    *rest = phi__str(rest->at + n, rest->len - n);
    return true;
}

/* Takes a line that checks apart. */
PHI__FN bool phi__file_lines_parse(phi_str line, phi__file_line *out) {
    phi_str rest = phi__str(line.at + PHI__FILE_LINES_CRC, line.len - PHI__FILE_LINES_CRC);
    if (!phi__file_lines_word(&rest, "\"seq\":") || !phi__file_lines_number(&rest, &out->seq))
        return false;
    out->first = out->last = out->seq;
    if (phi__file_lines_word(&rest, ",\"of\":[") &&
        !(phi__file_lines_number(&rest, &out->first) && phi__file_lines_word(&rest, ",") &&
          phi__file_lines_number(&rest, &out->last) && phi__file_lines_word(&rest, "]")))
        return false;
    if (!phi__file_lines_word(&rest, ",\"e\":") || rest.len < 2 || rest.at[rest.len - 1] != '}')
        return false;
    out->entry = phi__str(rest.at, rest.len - 1);
    return out->first <= out->seq && out->seq <= out->last;
}

PHI__FN bool phi__file_lines_read(phi_str line, phi__file_line *out) {
    return phi__file_lines_checks(line) && phi__file_lines_parse(line, out);
}

#endif
