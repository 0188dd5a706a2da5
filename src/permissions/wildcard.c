/* wildcard.c - matches text and paths with wildcard patterns. */

#include "permissions/shell_in.h"
#include "tools/tools_in.h"

/* Returns the index after the set at `at`. If its bracket is not closed, returns `at`. */
static size_t phi__wild_set_end(phi_str pattern, size_t at) {
    size_t i = at + 1;
    if (i < pattern.len && pattern.at[i] == '!') i++;
    if (i < pattern.len) i++; /* a first ] is a member of the set */
    while (i < pattern.len && pattern.at[i] != ']') i++;
    return i < pattern.len ? i + 1 : at;
}

/* True if a set contains `c`. `set` is the text between the brackets. */
static bool phi__wild_in_set(phi_str set, char c) {
    bool negative = set.len > 0 && set.at[0] == '!', found = false;
    size_t i = negative ? 1 : 0;
    while (i < set.len) {
        unsigned char low = (unsigned char)set.at[i], high = low;
        if (i + 2 < set.len && set.at[i + 1] == '-') {
            high = (unsigned char)set.at[i + 2];
            i += 2;
        }
        if ((unsigned char)c >= low && (unsigned char)c <= high) found = true;
        i++;
    }
    return found != negative;
}

/* True if `c` matches the pattern's element at *at, which is no star. Advances past the element. */
static bool phi__wild_one(phi_str pattern, size_t *at, char c, bool path) {
    char p = pattern.at[*at];
    if (p == '?') {
        (*at)++;
        return !path || c != '/';
    }
    size_t end = p == '[' ? phi__wild_set_end(pattern, *at) : *at;
    if (end == *at) {
        (*at)++;
        return p == c;
    }
    p = phi__wild_in_set(phi__str(pattern.at + *at + 1, end - *at - 2), c) ? 1 : 0;
    *at = end;
    return p != 0 && (!path || c != '/');
}

/* The last star of one kind: where matching resumes after a character that does not match. */
typedef struct phi__wild_star {
    bool set;
    size_t pattern, text;
} phi__wild_star;

static bool phi__wild_all(phi_str pattern, phi_str text, bool path) {
    phi__wild_star one = {false, 0, 0}, two = {false, 0, 0};
    size_t p = 0, t = 0;
    for (;;) {
        if (p < pattern.len && pattern.at[p] == '*') {
            bool wide = !path || (p + 1 < pattern.len && pattern.at[p + 1] == '*');
            phi__wild_star *star = wide ? &two : &one;
            while (p < pattern.len && pattern.at[p] == '*') p++;
            star->set = true;
            star->pattern = p;
            star->text = t;
            if (wide) one.set = false;
            continue;
        }
        if (p == pattern.len && t == text.len) return true;
        if (p < pattern.len && t < text.len && phi__wild_one(pattern, &p, text.at[t], path)) {
            t++;
            continue;
        }
        if (one.set && one.text < text.len && text.at[one.text] != '/') {
            t = ++one.text;
            p = one.pattern;
        } else if (two.set && two.text < text.len) {
            one.set = false;
            t = ++two.text;
            p = two.pattern;
        } else
            return false;
    }
}

/* ---- two patterns ---- */

enum {
    PHI__WILD_MOST = 512, /* max. bytes of a pattern compared with another pattern */
    PHI__WILD_ANY = 256,  /* any one character; a smaller value is this character */
    PHI__WILD_STAR,
    PHI__WILD_DEEP, /* any text, with slashes */
    PHI__WILD_SET   /* PHI__WILD_SET + the index of the set in the text */
};

typedef struct phi__wild_tokens {
    phi_str text;
    unsigned short at[PHI__WILD_MOST];
    size_t count;
} phi__wild_tokens;

/* Splits a pattern into tokens. In a glob, a set counts as any one character. A set with a class,
   or "[^]" (which ends elsewhere in some shells), makes the rest of the glob match any text. */
static void phi__wild_split(phi__wild_tokens *out, phi_str text, bool glob) {
    size_t i = 0, end;
    out->text = text;
    for (out->count = 0; i < text.len; out->count++) {
        unsigned token = (unsigned char)text.at[i];
        end = i + 1;
        if (token == '?') token = PHI__WILD_ANY;
        if (token == '*') {
            while (end < text.len && text.at[end] == '*') end++;
            token = end > i + 1 ? PHI__WILD_DEEP : PHI__WILD_STAR;
        }
        if (token == '[' && glob) {
            size_t close = phi__wild_set_end(text, i);
            bool plain = close > i && memchr(text.at + i + 1, '[', close - i - 1) == NULL &&
                         (text.at[i + 1] != '^' || text.at[i + 2] != ']');
            token = plain ? PHI__WILD_ANY : PHI__WILD_DEEP;
            end = plain ? close : text.len;
        } else if (token == '[' && phi__wild_set_end(text, i) > i) {
            token = PHI__WILD_SET + (unsigned)i;
            end = phi__wild_set_end(text, i);
        }
        out->at[out->count] = (unsigned short)token;
        i = end;
    }
}

/* True if some character matches both tokens. */
static bool phi__wild_both(const phi__wild_tokens *a, unsigned one, unsigned other) {
    if (one < PHI__WILD_ANY && other < PHI__WILD_ANY) return one == other;
    if (one < PHI__WILD_ANY) return one != '/';
    if (other == '/') return false;
    if (one < PHI__WILD_SET || other >= PHI__WILD_ANY) return true;
    size_t from = one - PHI__WILD_SET;
    size_t end = phi__wild_set_end(a->text, from);
    phi_str set = phi__str(a->text.at + from + 1, end - from - 2);
    return phi__wild_in_set(set, (char)(unsigned char)other);
}

static bool phi__wild_star_token(unsigned token) {
    return token == PHI__WILD_STAR || token == PHI__WILD_DEEP;
}

/* True if the star can match a character that `token` matches. */
static bool phi__wild_takes(unsigned star, unsigned token) {
    return star == PHI__WILD_DEEP || token != '/';
}

/* True if the wildcard b[j] must not match the dot of a hidden file at a[i]. Only ** matches such a
   dot, and only if hidden files are not left out. If pattern `a` begins with **, the ** of `b`
   enters no hidden directory, because otherwise every search would match ".ssh" and the files in
   it. As an exception, PHI__WILD_ENTERED lets this ** enter hidden directories if `a` does not end
   in a star. */
static bool phi__wild_hides(const phi__wild_tokens *a, size_t i, const phi__wild_tokens *b,
                            size_t j, phi__wild_hidden hidden) {
    bool open = phi__wild_star_token(a->at[a->count - 1]);
    size_t k;
    if (a->at[i] != '.' || i == 0 || a->at[i - 1] != '/' || b->at[j] < PHI__WILD_ANY) return false;
    if (hidden == PHI__WILD_LEFT_OUT) return true;
    if (b->at[j] != PHI__WILD_DEEP) return j > 0 && b->at[j - 1] == '/';
    for (k = i; k < a->count && a->at[k] != '/'; k++) continue;
    return k < a->count && a->at[0] == PHI__WILD_DEEP && (open || hidden != PHI__WILD_ENTERED);
}

/* Marks the places that can be reached from place i of `a` and place j of `b`. `here` is the row of
   places of `b` for i, `below` the row for i + 1. */
static void phi__wild_follow(const phi__wild_tokens *a, size_t i, const phi__wild_tokens *b,
                             size_t j, phi__wild_hidden hidden, bool *here, bool *below) {
    bool star_a = i < a->count && phi__wild_star_token(a->at[i]);
    bool star_b = j < b->count && phi__wild_star_token(b->at[j]);
    if (star_a) below[j] = true;
    if (star_b) here[j + 1] = true;
    if (i == a->count || j == b->count) return;
    if (star_a && !star_b && phi__wild_takes(a->at[i], b->at[j])) here[j + 1] = true;
    if (phi__wild_hides(a, i, b, j, hidden)) return;
    if (star_b && !star_a && phi__wild_takes(b->at[j], a->at[i])) below[j] = true;
    if (!star_a && !star_b && phi__wild_both(a, a->at[i], b->at[j])) below[j + 1] = true;
}

PHI__FN bool phi__wild_meets(phi_str pattern, phi_str glob, phi__wild_hidden hidden) {
    phi__wild_tokens a, b;
    size_t j;
    if (pattern.len > PHI__WILD_MOST || glob.len > PHI__WILD_MOST) return true;
    phi__wild_split(&a, pattern, false);
    phi__wild_split(&b, glob, true);
    if (a.count > 0 && b.count > 0) { /* different last characters cannot match */
        unsigned one = a.at[a.count - 1], other = b.at[b.count - 1];
        if (one < PHI__WILD_ANY && other < PHI__WILD_ANY && one != other) return false;
    }
    bool rows[2][PHI__WILD_MOST + 1] = PHI_ZERO;
    rows[0][0] = true;
    for (size_t i = 0; i <= a.count; i++) {
        bool *here = rows[i % 2], *below = rows[(i + 1) % 2];
        bool rest = i + 2 == a.count && a.at[i] == '/' && a.at[i + 1] == PHI__WILD_DEEP;
        memset(below, 0, sizeof rows[0]);
        for (j = 0; j <= b.count; j++)
            if (here[j]) phi__wild_follow(&a, i, &b, j, hidden, here, below);
        if (here[b.count] && (rest || i == a.count)) return true;
    }
    return false;
}

PHI__FN bool phi__wild_next(phi_str *rest, phi_str *alternative) {
    size_t i = 0;
    if (rest->at == NULL) return false;
    while (i < rest->len && rest->at[i] != '|') {
        size_t end = rest->at[i] == '[' ? phi__wild_set_end(*rest, i) : i;
        i = end > i ? end : i + 1;
    }
    *alternative = phi__str(rest->at, i);
    *rest = i < rest->len ? phi__str(rest->at + i + 1, rest->len - i - 1) : phi__str(NULL, 0);
    return true;
}

PHI__FN bool phi__wild_word(phi_str *rest, phi_str *word) {
    size_t i = 0;
    while (i < rest->len && rest->at[i] == ' ') i++;
    size_t end = i;
    while (end < rest->len && rest->at[end] != ' ') {
        size_t set = rest->at[end] == '[' ? phi__wild_set_end(*rest, end) : end;
        end = set > end ? set : end + 1;
    }
    *word = phi__str(rest->at + i, end - i);
    *rest = phi__str(rest->at + end, rest->len - end);
    return word->len > 0;
}

PHI__FN bool phi__wild_any(phi_str pattern, phi_str text, bool path) {
    phi_str one;
    while (phi__wild_next(&pattern, &one)) {
        char last = one.len > 0 ? one.at[one.len - 1] : '*';
        if (strchr("*?]", last) == NULL && (text.len == 0 || text.at[text.len - 1] != last))
            continue; /* a quick test, which most alternatives fail */
        if (phi__wild_all(one, text, path)) return true;
        if (path && one.len > 3 && memcmp(one.at + one.len - 3, "/**", 3) == 0 &&
            phi__wild_all(phi__str(one.at, one.len - 3), text, path))
            return true;
    }
    return false;
}

PHI__FN bool phi__among(phi_str text, const char *names) {
    return phi__wild_any(phi_str_of(names), text, false);
}

/* ---- programs and variables that are known by their names ---- */

PHI__FN phi_str phi__names_name(phi_str name) {
    if (phi__str_starts(name, "/usr/bin/")) return phi__str(name.at + 9, name.len - 9);
    return phi__str_starts(name, "/bin/") ? phi__str(name.at + 5, name.len - 5) : name;
}

PHI__FN bool phi__names_prints(phi_str name) {
    static const char names[] =
        "echo|printf|seq|sleep|basename|dirname|pwd|true|false|:|whoami|id|uname|date|uptime|"
        "hostname|which|type|test|[[]|exit|cd|pushd|popd";
    return phi__among(phi__names_name(name), names);
}

PHI__FN bool phi__names_plain(phi_str name) {
    static const char names[] =
        "ls|cat|head|tail|wc|nl|tac|stat|du|df|cmp|comm|cut|tr|rev|column|paste|fold|realpath|"
        "readlink|od|xxd|hexdump|md5sum|sha1sum|sha256sum|sha512sum|cksum|base64|diff|strings|file|"
        "jq|grep|egrep|fgrep|rg|uniq|tree|sort|find|tee|mkdir|touch|cp|mv|rm|ln|chmod|rmdir|gzip|"
        "gunzip|zcat|join|shuf|expand|iconv";
    return phi__names_prints(name) || phi__among(phi__names_name(name), names);
}
