/* path.c - paths as text: their separators, absolute paths, and the style of Windows. */
#include "io/io_in.h"
#include "io/os_in.h"

#if defined(PHI__OS_WINDOWS)

PHI__FN bool phi__path_is_slash(char c) { return phi__windows_is_slash(c); }

PHI__FN bool phi__path_absolute(phi_str path) { return phi__windows_absolute(path); }

PHI__FN phi_str phi__path_looked_up(phi_str part) { return phi__windows_looked_up(part); }

PHI__FN size_t phi__path_drive(phi_str path) { return phi__windows_drive_bytes(path); }

PHI__FN size_t phi__path_root(const char *path) { return phi__windows_root(path); }

#else

PHI__FN bool phi__path_is_slash(char c) { return c == '/'; }

PHI__FN bool phi__path_absolute(phi_str path) { return path.len > 0 && path.at[0] == '/'; }

PHI__FN phi_str phi__path_looked_up(phi_str part) { return part; }

PHI__FN size_t phi__path_drive(phi_str path) {
    (void)path;
    return 0;
}

PHI__FN size_t phi__path_root(const char *path) {
    (void)path;
    return 1;
}

#endif

PHI__FN phi_str phi__path_name(phi_str path) {
    size_t at = path.len;
    while (at > 0 && !phi__path_is_slash(path.at[at - 1])) at--;
    return phi__str_from(path, at);
}

PHI__FN phi_str phi__path_directory(phi_str path) {
    size_t at = path.len - phi__path_name(path).len, drive = phi__path_drive(path);
    /* the slash of a root stays */
    return phi__str(path.at, at > 1 && at != drive + 1 ? at - 1 : at);
}

#if defined(PHI__OS_WINDOWS) || defined(PHI__TESTED)

PHI__FN bool phi__windows_is_slash(char c) { return c == '/' || c == '\\'; }

static bool phi__windows_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static bool phi__windows_drive(phi_str path) {
    return path.len >= 2 && phi__windows_letter(path.at[0]) && path.at[1] == ':';
}

PHI__FN bool phi__windows_absolute(phi_str path) {
    return path.len > 0 && (phi__windows_is_slash(path.at[0]) || phi__windows_drive(path));
}

PHI__FN size_t phi__windows_drive_bytes(phi_str path) {
    size_t n = 2;
    if (phi__windows_drive(path)) return 2;
    if (path.len < 3 || !phi__windows_is_slash(path.at[0]) || !phi__windows_is_slash(path.at[1]))
        return 0;
    while (n < path.len && !phi__windows_is_slash(path.at[n])) n++;
    if (n < path.len) n++;
    while (n < path.len && !phi__windows_is_slash(path.at[n])) n++;
    return n;
}

PHI__FN phi_str phi__windows_looked_up(phi_str part) {
    for (size_t i = 0; i < part.len; i++)
        if (part.at[i] == ':' && !(i == 1 && part.len == 2 && phi__windows_letter(part.at[0])))
            part.len = i;
    if (phi__str_is(part, ".") || phi__str_is(part, "..")) return part;
    while (part.len > 0 && (part.at[part.len - 1] == '.' || part.at[part.len - 1] == ' '))
        part.len--;
    return part;
}

PHI__FN const char *phi__windows_fault(int fault) {
    switch (fault) {
    case PHI__PATH_RELATIVE: return "It is not absolute";
    case PHI__PATH_DRIVE: return "A slash must follow the drive, as in C:/name";
    case PHI__PATH_DEVICE: return "It names a device";
    case PHI__PATH_SHARE: return "It names no share, as in //server/share";
    case PHI__PATH_STREAM: return "A part has a colon, which names a stream of a file";
    case PHI__PATH_CHAR: return "A part has a character that Windows does not allow";
    case PHI__PATH_TAIL: return "A part ends with a dot or a blank";
    case PHI__PATH_LONG: return "File name too long";
    case PHI__PATH_IS_DIRECTORY: return "Is a directory";
    case PHI__PATH_NO_DIRECTORY: return "Not a directory";
    case PHI__PATH_NOT_REGULAR: return "Not a regular file";
    case PHI__PATH_DANGLING: return "It is a link that leads nowhere";
    default: return "It is no path";
    }
}

/* ---- one part ---- */

/* True if `name` is the name of a device, which has no extension here. Windows counts the three
   superscript digits as digits. */
static bool phi__windows_device(phi_str name) {
    static const char *const devices[] = {"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"};
    static const char *const digits[] = {"\xC2\xB9", "\xC2\xB2", "\xC2\xB3"};
    for (size_t i = 0; i < PHI__COUNT(devices); i++)
        if (phi__str_is_nocase(name, devices[i])) return true;
    if (name.len < 4) return false;
    phi_str head = phi__str(name.at, 3), digit = phi__str_from(name, 3);
    if (!phi__str_is_nocase(head, "COM") && !phi__str_is_nocase(head, "LPT")) return false;
    if (digit.len == 1 && digit.at[0] >= '1' && digit.at[0] <= '9') return true;
    for (size_t i = 0; i < PHI__COUNT(digits); i++)
        if (phi__str_is(digit, digits[i])) return true;
    return false;
}

PHI__FN int phi__windows_part(phi_str part) {
    enum { UNITS = 255 }; /* of UTF-16 in a name, the limit of NTFS, FAT and ReFS */
    size_t stem = part.len, units = 0;
    if (part.len == 0 || phi__utf8_valid(part) != part.len) return PHI__PATH_CHAR;
    for (size_t i = 0; i < part.len; i++) {
        unsigned char c = (unsigned char)part.at[i];
        if (c == ':') return PHI__PATH_STREAM;
        if (c < 0x20 || strchr("<>\"|?*/\\", c) != NULL) return PHI__PATH_CHAR;
        if (c == '.' && stem == part.len) stem = i;
        units += (c & 0xC0) == 0x80 ? 0 : c >= 0xF0 ? 2 : 1;
    }
    if (units > UNITS) return PHI__PATH_LONG;
    if (part.at[part.len - 1] == '.' || part.at[part.len - 1] == ' ') return PHI__PATH_TAIL;
    while (stem > 0 && part.at[stem - 1] == ' ') stem--;
    return phi__windows_device(phi__str(part.at, stem)) ? (int)PHI__PATH_DEVICE : 0;
}

/* ---- whole paths ---- */

/* Returns the bytes of path before its next slash. */
static size_t phi__windows_until_slash(phi_str path) {
    size_t n = 0;
    while (n < path.len && !phi__windows_is_slash(path.at[n])) n++;
    return n;
}

PHI__FN size_t phi__windows_root(const char *path) {
    if (path[0] != '/') return 3;
    size_t n = 2 + strcspn(path + 2, "/");
    return path[n] == '\0' ? n : n + 1 + strcspn(path + n + 1, "/");
}

static int phi__windows_put(char *out, size_t *len, phi_str text) {
    if (text.len >= PHI__PATH_BYTES - *len) return PHI__PATH_LONG;
    memcpy(out + *len, text.at, text.len);
    *len += text.len;
    out[*len] = '\0';
    return 0;
}

/* Writes "//server/share" and moves *path to the end of it. Two slashes begin the path. */
static int phi__windows_share(phi_str *path, char *out, size_t *len) {
    static const char *const devices[] = {"pipe", "mailslot", "ipc$"};
    phi_str rest = phi__str_from(*path, 2);
    int fault = 0;
    for (int i = 0; i < 2 && fault == 0; i++) {
        phi_str part = phi__str(rest.at, phi__windows_until_slash(rest));
        if (part.len == 0) return PHI__PATH_SHARE;
        if (i == 0 && (phi__str_is(part, "?") || phi__str_is(part, "."))) return PHI__PATH_DEVICE;
        for (size_t k = 0; i == 1 && k < PHI__COUNT(devices); k++)
            if (phi__str_is_nocase(part, devices[k])) return PHI__PATH_DEVICE;
        fault = phi__windows_part(part);
        if (fault == 0) fault = phi__windows_put(out, len, i == 0 ? PHI__LIT("//") : PHI__LIT("/"));
        if (fault == 0) fault = phi__windows_put(out, len, part);
        rest = phi__str_from(rest, part.len);
        if (i == 0 && rest.len > 0) rest = phi__str_from(rest, 1);
    }
    *path = rest;
    return fault;
}

/* Writes the root at which the path begins, or `base`, and moves *path to the end of its root. */
static int phi__windows_begin(const char *base, phi_str *path, char *out, size_t *len) {
    bool slash = path->len > 0 && phi__windows_is_slash(path->at[0]);
    if (slash && path->len > 1 && phi__windows_is_slash(path->at[1]))
        return phi__windows_share(path, out, len);
    if (phi__windows_drive(*path)) {
        char root[3] = {path->at[0], ':', '/'};
        if (path->len < 3 || !phi__windows_is_slash(path->at[2])) return PHI__PATH_DRIVE;
        if (root[0] >= 'a') root[0] = (char)(root[0] - 'a' + 'A');
        *path = phi__str_from(*path, 3);
        return phi__windows_put(out, len, phi__str(root, 3));
    }
    if (base == NULL) return PHI__PATH_RELATIVE;
    return phi__windows_put(out, len,
                            phi__str(base, slash ? phi__windows_root(base) : strlen(base)));
}

PHI__FN int phi__windows_path(const char *base, phi_str path, char out[PHI__PATH_BYTES]) {
    size_t len = 0;
    out[0] = '\0';
    int fault = phi__windows_begin(base, &path, out, &len);
    if (fault != 0) return fault;
    size_t root = phi__windows_root(out);
    while (path.len > 0) {
        phi_str part = phi__str(path.at, phi__windows_until_slash(path));
        path = phi__str_from(path, part.len + (part.len < path.len ? 1 : 0));
        if (part.len == 0 || phi__str_is(part, ".")) continue;
        if (phi__str_is(part, "..")) {
            while (len > root && out[--len] != '/') continue;
            out[len] = '\0';
            continue;
        }
        fault = phi__windows_part(part);
        if (fault == 0 && out[len - 1] != '/') fault = phi__windows_put(out, &len, PHI__LIT("/"));
        if (fault == 0) fault = phi__windows_put(out, &len, part);
        if (fault != 0) return fault;
    }
    return 0;
}

#endif
