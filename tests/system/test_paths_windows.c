/* test_paths_windows.c - paths of Windows: as text, on every system; and on a disk of Windows, where
   no path leads out of an allowed directory. */
#ifndef PHI__TESTED
#define PHI__TESTED 1 /* the text functions of Windows are in builds of tests alone */
#endif
#include "io/os_in.h"
#include "support/test.h"
#include "system/files_in.h"

#if defined(PHI__OS_WINDOWS)
#include "io/windows_in.h"
#endif

/* ---- as text ---- */

typedef struct row {
    const char *path;
    const char *want; /* the path in phi's style, or the words of a fault */
} row;

#define DRIVE "A slash must follow the drive, as in C:/name"
#define DEVICE "It names a device"
#define SHARE "It names no share, as in //server/share"
#define STREAM "A part has a colon, which names a stream of a file"
#define CHAR "A part has a character that Windows does not allow"
#define TAIL "A part ends with a dot or a blank"
#define LONG "File name too long"

#define NAME_250                                                                                   \
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn" \
    "nn"                                                                                           \
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn" \
    "nn"                                                                                           \
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"

/* The base is C:/ws/room. */
static const row rows[] = {
    /* relative paths, and all spellings of dots and slashes */
    {"a.txt", "C:/ws/room/a.txt"},
    {"dir/a.txt", "C:/ws/room/dir/a.txt"},
    {"dir\\a.txt", "C:/ws/room/dir/a.txt"},
    {"dir/sub\\a.txt", "C:/ws/room/dir/sub/a.txt"},
    {".", "C:/ws/room"},
    {"./", "C:/ws/room"},
    {".\\.\\a", "C:/ws/room/a"},
    {"dir//a\\\\b", "C:/ws/room/dir/a/b"},
    {"dir/", "C:/ws/room/dir"},
    {"dir\\", "C:/ws/room/dir"},
    {"..", "C:/ws"},
    {"..\\", "C:/ws"},
    {"../..", "C:/"},
    {"../../../../..", "C:/"},
    {"dir/../a", "C:/ws/room/a"},
    {"dir\\..\\..\\a", "C:/ws/a"},
    {"dir/..\\../a", "C:/ws/a"},
    {"..\\room\\a", "C:/ws/room/a"},
    {"..\\roomy\\a", "C:/ws/roomy/a"},
    {"a/.../b", TAIL},
    {"...", TAIL},
    {".. /secret", TAIL},
    {".. ", TAIL},
    {". ./a", TAIL},
    {"....\\a", TAIL},
    {".git/config", "C:/ws/room/.git/config"},
    {"..a", "C:/ws/room/..a"},
    {" a", "C:/ws/room/ a"},
    {"a b.txt", "C:/ws/room/a b.txt"},
    {"\xC3\xA4\xE2\x82\xAC.txt", "C:/ws/room/\xC3\xA4\xE2\x82\xAC.txt"},
    {"\xF0\x9F\x99\x82", "C:/ws/room/\xF0\x9F\x99\x82"},
    {"\xEF\xBC\x8E\xEF\xBC\x8E/a", "C:/ws/room/\xEF\xBC\x8E\xEF\xBC\x8E/a"}, /* wide dots */
    /* drives */
    {"C:/a", "C:/a"},
    {"c:\\a\\b", "C:/a/b"},
    {"z:/", "Z:/"},
    {"D:\\..\\..\\x", "D:/x"},
    {"C:a", DRIVE},
    {"C:", DRIVE},
    {"c:..\\a", DRIVE},
    {"C:.", DRIVE},
    {"d:secret.txt", DRIVE},
    {"1:/a", STREAM},
    {"CC:/a", STREAM},
    {"dir/C:/a", STREAM},
    {"/a", "C:/a"},
    {"\\a\\b", "C:/a/b"},
    {"/", "C:/"},
    {"\\..\\a", "C:/a"},
    {"/C:/a", STREAM},
    /* shares and the names of the system */
    {"//server/share/a", "//server/share/a"},
    {"\\\\server\\share\\a\\..\\b", "//server/share/b"},
    {"\\/server/share", "//server/share"},
    {"//server/share/../../../a", "//server/share/a"},
    {"//server/share/", "//server/share"},
    {"//127.0.0.1/c$/a", "//127.0.0.1/c$/a"},
    {"//server", SHARE},
    {"//server/", SHARE},
    {"//", SHARE},
    {"///server/share", SHARE},
    {"//server//share", SHARE},
    {"//../share/a", TAIL},
    {"//server/../a", TAIL},
    {"//server/pipe/a", DEVICE},
    {"\\\\.\\pipe\\a", DEVICE},
    {"\\\\server\\IPC$", DEVICE},
    {"//server/MailSlot/a", DEVICE},
    {"\\\\?\\C:\\a", DEVICE},
    {"\\\\?\\UNC\\server\\share", DEVICE},
    {"//?/C:/a", DEVICE},
    {"\\\\.\\C:\\a", DEVICE},
    {"//./PhysicalDrive0", DEVICE},
    {"\\\\?\\GLOBALROOT\\Device\\HarddiskVolume1\\a", DEVICE},
    {"\\??\\C:\\a", CHAR},
    {"/?"
     "?/C:/a",
     CHAR},
    {"\\\\.", DEVICE},
    /* streams */
    {"a.txt:b", STREAM},
    {"a::$DATA", DRIVE},
    {"ab::$DATA", STREAM},
    {"a.txt:b:$DATA", STREAM},
    {":b", STREAM},
    {"dir:$I30:$INDEX_ALLOCATION/a", STREAM},
    {"dir::$INDEX_ALLOCATION\\..\\..\\a", STREAM},
    {"C:/a:b", STREAM},
    /* devices */
    {"NUL", DEVICE},
    {"nul", DEVICE},
    {"con.txt", DEVICE},
    {"Con.tar.gz", DEVICE},
    {"dir\\AUX", DEVICE},
    {"prn/a", DEVICE},
    {"COM1", DEVICE},
    {"com9.log", DEVICE},
    {"LPT1", DEVICE},
    {"LPT\xC2\xB9", DEVICE},
    {"com\xC2\xB2.txt", DEVICE},
    {"COM\xC2\xB3", DEVICE},
    {"NUL .txt", DEVICE},
    {"CONIN$", DEVICE},
    {"conout$.x", DEVICE},
    {"C:/NUL", DEVICE},
    {"NUL:", STREAM},
    {"com1:", STREAM},
    {"COM10", "C:/ws/room/COM10"},
    {"COM", "C:/ws/room/COM"},
    {"console.txt", "C:/ws/room/console.txt"},
    {"nul_.txt", "C:/ws/room/nul_.txt"},
    /* dots and blanks at the end, which Windows drops */
    {"a.txt.", TAIL},
    {"a.txt ", TAIL},
    {"a.txt . .", TAIL},
    {"dir./a", TAIL},
    {"dir /a", TAIL},
    {"NUL ", TAIL},
    {" ", TAIL},
    /* other characters */
    {"*.txt", CHAR},
    {"a?", CHAR},
    {"dir/*/a", CHAR},
    {"a<b", CHAR},
    {"a>b", CHAR},
    {"a|b", CHAR},
    {"\"a\"", CHAR},
    {"a\nb", CHAR},
    {"a\tb", CHAR},
    {"\x01", CHAR},
    {"a\x1F", CHAR},
    {"\xC0\xAE\xC0\xAE/a", CHAR}, /* dots in a form that is no UTF-8 */
    {"\xED\xA0\x80", CHAR},
    {"a\xFF", CHAR},
    /* lengths */
    {NAME_250, "C:/ws/room/" NAME_250},
    {NAME_250 "nnnnn", "C:/ws/room/" NAME_250 "nnnnn"},
    {NAME_250 "nnnnnn", LONG},
    {"a/" NAME_250 "\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4",
     "C:/ws/room/a/" NAME_250 "\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4"},
    {NAME_250 "\xF0\x9F\x99\x82\xF0\x9F\x99\x82\xF0\x9F\x99\x82", LONG},
};

/* The path in phi's style, or the words of the fault; valid until the next call. */
static const char *normal(const char *base, const char *path) {
    static char out[PHI__PATH_BYTES];
    int fault = phi__windows_path(base, phi_str_of(path), out);
    return fault == 0 ? out : phi__windows_fault(fault);
}

TEST(paths_of_windows_get_one_style_or_are_refused) {
    for (size_t i = 0; i < PHI__COUNT(rows); i++)
        if (!CHECK_EQ_STR(normal("C:/ws/room", rows[i].path), rows[i].want))
            printf("  row %d: %s\n", (int)i, rows[i].path);
}

TEST(a_path_in_the_style_stays_as_it_is) {
    for (size_t i = 0; i < PHI__COUNT(rows); i++) {
        char once[PHI__PATH_BYTES];
        if (phi__windows_path("C:/ws/room", phi_str_of(rows[i].path), once) != 0) continue;
        CHECK_EQ_STR(normal(NULL, once), once);
    }
}

TEST(a_base_may_be_a_root_or_on_a_share_or_missing) {
    CHECK_EQ_STR(normal("C:/", "a"), "C:/a");
    CHECK_EQ_STR(normal("C:/", "../a"), "C:/a");
    CHECK_EQ_STR(normal("//server/share", "a"), "//server/share/a");
    CHECK_EQ_STR(normal("//server/share/dir", "..\\..\\a"), "//server/share/a");
    CHECK_EQ_STR(normal("//server/share/dir", "\\a"), "//server/share/a");
    CHECK_EQ_STR(normal("//server/share/dir", "D:/a"), "D:/a");
    CHECK_EQ_STR(normal(NULL, "a"), "It is not absolute");
    CHECK_EQ_STR(normal(NULL, "/a"), "It is not absolute");
    CHECK_EQ_STR(normal(NULL, "c:/A"), "C:/A");
    CHECK_EQ_INT(phi__windows_root("C:/a/b"), 3);
    CHECK_EQ_INT(phi__windows_root("//server/share/a"), 14);
    CHECK_EQ_INT(phi__windows_root("//server/share"), 14);
}

TEST(a_path_is_at_most_4095_bytes_long) {
    char path[PHI__PATH_BYTES + 8], out[PHI__PATH_BYTES];
    for (size_t i = 0; i < sizeof path; i++) path[i] = i % 200 == 199 ? '/' : 'p';
    memcpy(path, "C:/", 3);
    CHECK_EQ_INT(phi__windows_path(NULL, phi__str(path, 4095), out), 0);
    CHECK_EQ_INT(strlen(out), 4095);
    CHECK_EQ_INT(phi__windows_path(NULL, phi__str(path, 4096), out), PHI__PATH_LONG);
    CHECK_EQ_INT(phi__windows_path("C:/base", phi__str(path + 3, 4090), out), PHI__PATH_LONG);
    CHECK_EQ_INT(phi__windows_path(NULL, phi__str("C:/a\0b", 6), out), PHI__PATH_CHAR);
    CHECK_EQ_INT(phi__windows_path(NULL, phi__str("C:/", 2), out), PHI__PATH_DRIVE);
    CHECK_EQ_INT(phi__windows_path(NULL, phi__str("//s", 2), out), PHI__PATH_SHARE);
}

TEST(a_paths_name_directory_and_drive) {
    CHECK_STR(phi__path_name(PHI__LIT("dir/name")), "name");
    CHECK_STR(phi__path_name(PHI__LIT("name")), "name");
    CHECK_STR(phi__path_name(PHI__LIT("dir/")), "");
    CHECK_STR(phi__path_directory(PHI__LIT("a/b/c")), "a/b");
    CHECK_STR(phi__path_directory(PHI__LIT("a/b/")), "a/b");
    CHECK_STR(phi__path_directory(PHI__LIT("/a")), "/");
    CHECK_STR(phi__path_directory(PHI__LIT("a")), "");
    CHECK_EQ_INT(phi__windows_drive_bytes(PHI__LIT("C:/a")), 2);
    CHECK_EQ_INT(phi__windows_drive_bytes(PHI__LIT("c:a")), 2);
    CHECK_EQ_INT(phi__windows_drive_bytes(PHI__LIT("\\\\server/share\\a")), 14);
    CHECK_EQ_INT(phi__windows_drive_bytes(PHI__LIT("//server")), 8);
    CHECK_EQ_INT(phi__windows_drive_bytes(PHI__LIT("/a")), 0);
    CHECK_EQ_INT(phi__windows_drive_bytes(PHI__LIT("1:/a")), 0);
    CHECK_EQ_INT(phi__windows_drive_bytes(PHI__LIT("")), 0);
#if defined(PHI__OS_WINDOWS)
    CHECK_STR(phi__path_name(PHI__LIT("dir\\name")), "name");
    CHECK_STR(phi__path_directory(PHI__LIT("C:\\name")), "C:\\");
    CHECK_STR(phi__path_directory(PHI__LIT("C:\\dir\\name")), "C:\\dir");
    CHECK_EQ_INT(phi__path_root("C:/a"), 3);
#else
    CHECK_STR(phi__path_name(PHI__LIT("dir\\name")), "dir\\name");
    CHECK_STR(phi__path_directory(PHI__LIT("C:/name")), "C:");
    CHECK_EQ_INT(phi__path_drive(PHI__LIT("C:/a")), 0);
    CHECK_EQ_INT(phi__path_root("/a"), 1);
    CHECK(phi__path_absolute(PHI__LIT("/a")) && !phi__path_absolute(PHI__LIT("C:/a")));
#endif
}

TEST(absolute_paths_and_the_names_that_windows_looks_up) {
    static const char *const absolute[] = {"/", "\\a", "C:/a", "c:\\", "C:a", "//s/h", "a:b"};
    static const char *const relative[] = {"", "a", ".", "..", "a/b", "ab:c", "1:/", "~/a"};
    static const row names[] = {
        {"a.txt", "a.txt"}, {"a.txt. .", "a.txt"}, {"a:b", "a"}, {"a::$DATA", "a"},
        {"a. :b", "a"},     {"..", ".."},          {".", "."},   {"... ", ""},
        {"C:", "C:"},       {"ab:", "ab"},         {"", ""},     {" a", " a"}};
    for (size_t i = 0; i < PHI__COUNT(absolute); i++)
        CHECK(phi__windows_absolute(phi_str_of(absolute[i])));
    for (size_t i = 0; i < PHI__COUNT(relative); i++)
        CHECK(!phi__windows_absolute(phi_str_of(relative[i])));
    for (size_t i = 0; i < PHI__COUNT(names); i++)
        CHECK_STR(phi__windows_looked_up(phi_str_of(names[i].path)), names[i].want);
    CHECK(phi__windows_is_slash('/') && phi__windows_is_slash('\\') && !phi__windows_is_slash(':'));
}

/* ---- on a disk of Windows ---- */

#if defined(PHI__OS_WINDOWS)

typedef struct rig {
    phi_memory memory;
    char dir[PHI__PATH_BYTES]; /* resolved; it has room/ and out/ */
    char room[PHI__PATH_BYTES];
    char path[PHI__PATH_BYTES];
    phi__words words;
} rig;

static phi_status resolve(const char *base, const char *path, char *out, phi__words *words) {
    phi__resolve r;
    size_t units = SIZE_MAX;
    phi_status status = phi__path_resolve_begin(&r, base, path, words);
    if (status == PHI_OK) status = phi__path_resolve_advance(&r, &units, words);
    if (status == PHI_OK) memcpy(out, r.out, PHI__PATH_BYTES);
    return status;
}

static const char *in(rig *r, const char *name) {
    (void)snprintf(r->path, sizeof r->path, "%.2000s/%.2000s", r->dir, name);
    return r->path;
}

static void put(rig *r, const char *name, const char *text) {
    wchar_t wide[PHI__WIDE_PATH];
    DWORD n = 0;
    REQUIRE(phi__wide_path(in(r, name), wide) == 0);
    HANDLE f = CreateFileW(wide, GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, 0, NULL);
    REQUIRE(f != INVALID_HANDLE_VALUE);
    CHECK(WriteFile(f, text, (DWORD)strlen(text), &n, NULL) != 0);
    (void)CloseHandle(f);
}

static bool rig_open(rig *r) {
    phi_allocator allocator = test_allocator();
    char dir[512];
    memset(r, 0, sizeof *r);
    phi_memory_init(&r->memory, &allocator, 0);
    if (!test_temp_dir(dir, sizeof dir)) return false;
    if (!CHECK_EQ_INT(resolve(NULL, dir, r->dir, &r->words), PHI_OK)) return false;
    (void)snprintf(r->room, sizeof r->room, "%.4000s/Room", r->dir);
    if (phi__files_make_directories(in(r, "Room/Long Directory Name"), NULL) != PHI_OK ||
        phi__files_make_directories(in(r, "Room/sub"), NULL) != PHI_OK ||
        phi__files_make_directories(in(r, "Roomy"), NULL) != PHI_OK ||
        phi__files_make_directories(in(r, "out"), NULL) != PHI_OK)
        return CHECK(false);
    put(r, "Room/a.txt", "inside");
    put(r, "Room/sub/a.txt", "inside");
    put(r, "Room/Long Directory Name/Long File Name.text", "inside");
    put(r, "Roomy/a.txt", "outside");
    put(r, "out/a.txt", "outside");
    return true;
}

/* Opens a path as a tool does that may use the room alone. Returns what the file says, or how it
   was refused. */
static const char *confined(rig *r, const char *path) {
    static char text[16];
    char place[PHI__PATH_BYTES];
    phi__file *file;
    size_t got = 0;
    phi_status status = resolve(r->room, path, place, &r->words);
    if (status != PHI_OK) return r->words.text;
    if (!phi__path_inside(r->room, place)) return "outside the room";
    status = phi__files_open_read(&r->memory, place, PHI__LINKS_REFUSE, &file, &r->words);
    if (status == PHI_NOT_FOUND) return "none";
    if (status != PHI_OK) return r->words.text;
    CHECK_EQ_INT(phi__files_read(file, text, sizeof text - 1, &got, NULL), PHI_OK);
    text[got] = '\0';
    phi__files_close(file);
    return text;
}

/* Puts a part of the directory's path into a row's hole: {dir} is all of it, {root} is it without its
   drive, {leaf} is its last part. */
static void fill(char *path, const char *shown, const char *dir) {
    const char *hole = strchr(shown, '{');
    const char *part = dir;
    if (hole == NULL) hole = shown + strlen(shown);
    if (strncmp(hole, "{root}", 6) == 0) part = dir + 2;
    if (strncmp(hole, "{leaf}", 6) == 0) part = strrchr(dir, '/') + 1;
    (void)snprintf(path, PHI__PATH_BYTES, "%.*s%.2000s%s", (int)(hole - shown), shown,
                   *hole == '{' ? part : "", *hole == '{' ? strchr(hole, '}') + 1 : "");
}

TEST(no_spelling_leads_out_of_the_room) {
    static const row tried[] = {
        {"a.txt", "inside"},
        {"A.TXT", "inside"},
        {"sub\\a.txt", "inside"},
        {"SUB/../Sub\\A.txt", "inside"},
        {"..\\room\\a.txt", "inside"},
        {"{dir}/room/sub/a.txt", "inside"},
        {"{dir}\\ROOM\\SUB\\A.TXT", "inside"},
        {"long directory name/long file name.text", "inside"},
        {"..\\out\\a.txt", "outside the room"},
        {"../Roomy/a.txt", "outside the room"},
        {"../ROOMY/a.txt", "outside the room"},
        {"sub/../../out/a.txt", "outside the room"},
        {"sub\\..\\..\\out\\a.txt", "outside the room"},
        {"none/../../out/a.txt", "outside the room"},
        {"a.txt/../../out/a.txt", "outside the room"},
        {"{dir}/out/a.txt", "outside the room"},
        {"{dir}/none/a.txt", "outside the room"},
        {"/windows/win.ini", "outside the room"},
        {"\\", "outside the room"},
        {"..", "outside the room"},
        {"Q:/a.txt", "outside the room"},
        {"//server/share/a.txt", "outside the room"},
        {"\\\\localhost\\c$\\a.txt", "outside the room"},
        {"\\\\?\\{dir}\\out\\a.txt", DEVICE},
        {"\\\\.\\{dir}\\out\\a.txt", DEVICE},
        {"//?/{dir}/Room/a.txt", DEVICE},
        {"a.txt:b", STREAM},
        {"a.txt::$DATA", STREAM},
        {"..\\out\\a.txt::$DATA", STREAM},
        {"a.txt.", TAIL},
        {"a.txt ", TAIL},
        {"sub./a.txt", TAIL},
        {".. /out/a.txt", TAIL},
        {"NUL", DEVICE},
        {"sub/con.txt", DEVICE},
        {"*", CHAR},
        {"sub/a.???", CHAR},
        {"a.txt\n", CHAR},
        {"a.txt/b", "Not a directory"},
        {"a.txt/", "inside"},
        {"sub", "Is a directory"},
        {".", "Is a directory"},
        {"none.txt", "none"},
        {"none/none.txt", "none"},
        /* through a directory that is not there, a file, or the room itself and back */
        {".\\sub\\.\\a.txt", "inside"},
        {"sub//a.txt", "inside"},
        {"sub\\\\..//a.txt", "inside"},
        {"none/../a.txt", "inside"},
        {"..\\Room\\sub\\..\\a.txt", "inside"},
        {"../out/../Room/a.txt", "inside"},
        {"../../../../../../../..{root}/room/a.txt", "inside"},
        {"{root}/Room/a.txt", "inside"},
        {"{root}\\out\\..\\Room\\A.txt", "inside"},
        {"{dir}/Room", "Is a directory"},
        {"{dir}/room/", "Is a directory"},
        {"sub/..", "Is a directory"},
        {"../out", "outside the room"},
        {"../out/", "outside the room"},
        {"..\\Room\\..\\out\\a.txt", "outside the room"},
        {"../Room/../../{leaf}/out/a.txt", "outside the room"},
        {"{root}/out/a.txt", "outside the room"},
        {"{root}\\Roomy\\a.txt", "outside the room"},
        {"{dir}/Roomy/a.txt", "outside the room"},
        {"{dir}", "outside the room"},
        {"{dir}/", "outside the room"},
        {"sub/../../Roomy/../out/a.txt", "outside the room"},
        {"long directory name/../../out/a.txt", "outside the room"},
        {"../../../../../../../../../windows/system32/drivers/etc/hosts", "outside the room"},
        {"\\Windows\\System32\\config\\SAM", "outside the room"},
        {"C:\\", "outside the room"},
        {"//localhost/c$/windows/win.ini", "outside the room"},
        {"\\\\127.0.0.1\\c$\\..\\..\\a", "outside the room"},
        {"//?/UNC/localhost/c$/windows/win.ini", DEVICE},
        {"\\\\?\\GLOBALROOT\\??\\{dir}\\out\\a.txt", DEVICE},
        {"//./UNC/localhost/c$/windows/win.ini", DEVICE},
        {"\\\\localhost\\pipe\\phi", DEVICE},
        {"C:..\\out\\a.txt", DRIVE},
        {"Room:a.txt", STREAM},
        {"sub:$INDEX_ALLOCATION/a.txt", STREAM},
        {"sub::$INDEX_ALLOCATION\\..\\..\\out\\a.txt", STREAM},
        {"..\\out::$INDEX_ALLOCATION\\a.txt", STREAM},
        {"..\\out.\\a.txt", TAIL},
        {"..\\out \\a.txt", TAIL},
        {"... /../out/a.txt", TAIL},
        {"sub/NUL.txt", DEVICE},
        {"..\\out\\COM1", DEVICE},
        {"aux/../../out/a.txt", DEVICE},
        {"..\\out\\*.txt", CHAR},
        {"..\\o?t\\a.txt", CHAR},
        {"..\\out\\a\"txt", CHAR},
        {"..\\out\\<.txt", CHAR},
        {"..\xC0\xAFout\xC0\xAF"
         "a.txt",
         CHAR},
    };
    rig r;
    REQUIRE(rig_open(&r));
    for (size_t i = 0; i < PHI__COUNT(tried); i++) {
        char path[PHI__PATH_BYTES];
        fill(path, tried[i].path, r.dir);
        if (!CHECK_EQ_STR(confined(&r, path), tried[i].want))
            printf("  row %d: %s\n", (int)i, path);
    }
    for (size_t i = 0; i < PHI__COUNT(rows); i++)
        if (!CHECK(strcmp(confined(&r, rows[i].path), "outside") != 0))
            printf("  row %d: %s\n", (int)i, rows[i].path);
}

TEST(resolved_paths_have_the_long_names_and_letters_of_the_disk) {
    char place[PHI__PATH_BYTES], want[PHI__PATH_BYTES];
    wchar_t wide[PHI__WIDE_PATH], brief[PHI__WIDE_PATH];
    rig r;
    REQUIRE(rig_open(&r));
    CHECK_EQ_INT(resolve(r.room, "LONG directory NAME/long file name.TEXT", place, NULL), PHI_OK);
    (void)snprintf(want, sizeof want, "%.4000s",
                   in(&r, "Room/Long Directory Name/Long File Name.text"));
    CHECK_EQ_STR(place, want);
    CHECK_EQ_INT(resolve(r.room, "LONG directory NAME/New\\Name", place, NULL), PHI_OK);
    CHECK_EQ_STR(place, in(&r, "Room/Long Directory Name/New/Name"));
    /* the short name, if the disk has one */
    REQUIRE(phi__wide_path(want, wide) == 0);
    DWORD n = GetShortPathNameW(wide, brief, PHI__WIDE_PATH);
    CHECK(n > 4 && n < PHI__WIDE_PATH);
    char narrow[PHI__PATH_BYTES];
    CHECK(phi__narrow(brief + 4, n - 4, narrow, sizeof narrow) != SIZE_MAX);
    if (strstr(narrow, "~") == NULL) {
        test_skip("this disk has no short names");
        return;
    }
    CHECK_EQ_INT(resolve(r.room, narrow, place, NULL), PHI_OK);
    CHECK_EQ_STR(place, want);
    CHECK_EQ_STR(confined(&r, narrow), "inside");
}

TEST(inside_compares_whole_parts_without_regard_to_case) {
    CHECK(phi__path_inside("C:/Room", "C:/room"));
    CHECK(phi__path_inside("C:/Room", "C:/ROOM/a"));
    CHECK(!phi__path_inside("C:/Room", "C:/Roomy"));
    CHECK(!phi__path_inside("C:/Room", "C:/Roo"));
    CHECK(!phi__path_inside("C:/Room", "D:/Room/a"));
    CHECK(phi__path_inside("C:/", "C:/"));
    CHECK(phi__path_inside("C:/", "c:/a"));
    CHECK(!phi__path_inside("C:/", "D:/a"));
    CHECK(phi__path_inside("//Server/Share", "//server/share/a"));
    CHECK(!phi__path_inside("//server/share", "//server/shares"));
    CHECK(phi__path_inside("C:/\xC3\x84", "C:/\xC3\xA4/a")); /* A with dots, both cases */
    CHECK(!phi__path_inside("C:/stra\xC3\x9F"
                            "e",
                            "C:/strasse")); /* no rules of a language */
    CHECK(!phi__path_inside("", "C:/a"));
}

static bool wine(void) {
    return GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "wine_get_version") != NULL;
}

/* Makes a link to a directory or file; Wine needs the system below it. False: not possible here. */
static bool make_link(rig *r, const char *name, const char *target, bool directory) {
    wchar_t from[PHI__WIDE_PATH], to[PHI__WIDE_PATH];
    char line[2 * PHI__PATH_BYTES], place[PHI__PATH_BYTES];
    (void)snprintf(place, sizeof place, "%s", in(r, target));
    if (phi__wide_path(place, to) != 0 || phi__wide_path(in(r, name), from) != 0) return false;
    if (wine()) {
        STARTUPINFOA start = PHI_ZERO;
        PROCESS_INFORMATION child;
        start.cb = sizeof start;
        if (r->dir[0] != 'Z') return false;
        (void)snprintf(line, sizeof line, "Z:\\bin\\ln -s %s %s", place + 2, r->path + 2);
        if (!CreateProcessA(NULL, line, NULL, NULL, FALSE, 0, NULL, NULL, &start, &child))
            return false;
        (void)WaitForSingleObject(child.hProcess, 10000);
        (void)CloseHandle(child.hProcess);
        (void)CloseHandle(child.hThread);
    } else if (!CreateSymbolicLinkW(from, to, (directory ? 1 : 0) | 2) && directory) {
        for (char *at = place; *at != '\0'; at++) *at = *at == '/' ? '\\' : *at;
        for (char *at = r->path; *at != '\0'; at++) *at = *at == '/' ? '\\' : *at;
        (void)snprintf(line, sizeof line, "mklink /J \"%s\" \"%s\" >nul", r->path, place);
        (void)system(line);
    }
    for (int i = 0; i < 100 && GetFileAttributesW(from) == INVALID_FILE_ATTRIBUTES; i++) Sleep(10);
    return GetFileAttributesW(from) != INVALID_FILE_ATTRIBUTES;
}

/* Removes a link. Wine would remove its target, so the system below it does so. */
static void drop_link(rig *r, const char *name) {
    wchar_t wide[PHI__WIDE_PATH];
    char line[PHI__PATH_BYTES + 32];
    if (phi__wide_path(in(r, name), wide) != 0) return;
    if (!wine()) {
        if (!RemoveDirectoryW(wide)) (void)DeleteFileW(wide);
        return;
    }
    if (r->dir[0] != 'Z') return; /* make_link made none */
    STARTUPINFOA start = PHI_ZERO;
    PROCESS_INFORMATION child;
    start.cb = sizeof start;
    (void)snprintf(line, sizeof line, "Z:\\bin\\rm -f %s", r->path + 2);
    if (!CreateProcessA(NULL, line, NULL, NULL, FALSE, 0, NULL, NULL, &start, &child)) return;
    (void)WaitForSingleObject(child.hProcess, 10000);
    (void)CloseHandle(child.hProcess);
    (void)CloseHandle(child.hThread);
    for (int i = 0; i < 100 && GetFileAttributesW(wide) != INVALID_FILE_ATTRIBUTES; i++) Sleep(10);
}

static void swap_and_check(rig *r);

/* All links of this test lead to its own directory. */
TEST(links_are_resolved_and_a_swap_after_the_check_leads_nowhere) {
    rig r;
    REQUIRE(rig_open(&r));
    if (make_link(&r, "Room/link", "out", true))
        swap_and_check(&r);
    else
        test_skip("no link can be made here");
    drop_link(&r, "Room/link");
    drop_link(&r, "Room/sub");
    drop_link(&r, "Room/a.txt");
}

static void swap_and_check(rig *r) {
    static const char link_words[] = "It has become a symbolic link since it was checked";
    char place[PHI__PATH_BYTES];
    wchar_t one[PHI__WIDE_PATH], other[PHI__WIDE_PATH];
    phi__file_info info;
    phi__file *file;
    phi__way way = PHI_ZERO;
    size_t units = SIZE_MAX;
    CHECK_EQ_INT(resolve(r->room, "link/a.txt", place, NULL), PHI_OK);
    CHECK_EQ_STR(place, in(r, "out/a.txt"));
    CHECK_EQ_STR(confined(r, "link/a.txt"), "outside the room");
    CHECK_EQ_STR(confined(r, "link/new.txt"), "outside the room");
    CHECK_EQ_STR(confined(r, "link/../a.txt"), "inside"); /* ".." as Windows reads it */
    /* the directory is checked, and then becomes the link */
    CHECK_EQ_INT(resolve(r->room, "sub/a.txt", place, NULL), PHI_OK);
    CHECK(phi__path_inside(r->room, place));
    REQUIRE(phi__wide_path(in(r, "Room/sub"), one) == 0);
    REQUIRE(phi__wide_path(in(r, "Room/aside"), other) == 0);
    CHECK(MoveFileW(one, other));
    REQUIRE(CHECK(make_link(r, "Room/sub", "out", true)));
    CHECK_EQ_INT(phi__files_open_read(&r->memory, place, PHI__LINKS_REFUSE, &file, &r->words),
                 PHI_IO);
    CHECK_EQ_STR(r->words.text, link_words);
    CHECK_EQ_INT(phi__files_stat(place, PHI__LINKS_REFUSE, &info, &r->words), PHI_IO);
    CHECK_EQ_STR(r->words.text, link_words);
    CHECK_EQ_INT(phi__files_open_replace(&r->memory, place, &file, &r->words), PHI_IO);
    CHECK_EQ_STR(r->words.text, link_words);
    (void)snprintf(place, sizeof place, "%s", in(r, "Room/sub/new/a.txt"));
    way.path = place;
    CHECK_EQ_INT(phi__files_make_way(&way, &units, &r->words), PHI_IO);
    CHECK_EQ_STR(r->words.text, link_words);
    phi__files_leave(&way);
    CHECK_EQ_INT(phi__files_stat(in(r, "out/new"), PHI__LINKS_FOLLOW, &info, NULL), PHI_NOT_FOUND);
    CHECK(phi__walk_open_path(phi_str_of(in(r, "Room/sub"))) == -1);
    /* a walk returns links and enters none */
    phi__walk *walk;
    phi__walk_entry entry;
    phi_status status;
    int links = 0, files = 0;
    REQUIRE(
        CHECK_EQ_INT(phi__walk_new(&r->memory, r->room, PHI__LINKS_REFUSE, &walk, NULL), PHI_OK));
    while ((status = phi__walk_next(walk, &entry)) != PHI_NOT_FOUND) {
        if (status != PHI_OK) continue;
        links += entry.kind == PHI__FILE_LINK;
        files += entry.kind == PHI__FILE_REGULAR;
    }
    phi__walk_free(walk);
    CHECK_EQ_INT(links, 2);
    CHECK_EQ_INT(files, 3);
    /* a file that becomes a link */
    CHECK_EQ_INT(resolve(r->room, "a.txt", place, NULL), PHI_OK);
    REQUIRE(phi__wide_path(place, one) == 0);
    CHECK(DeleteFileW(one));
    if (!make_link(r, "Room/a.txt", "out/a.txt", false)) return; /* needs a right on Windows */
    CHECK_EQ_INT(phi__files_open_read(&r->memory, place, PHI__LINKS_REFUSE, &file, &r->words),
                 PHI_IO);
    CHECK_EQ_STR(r->words.text, link_words);
    CHECK_EQ_STR(confined(r, "a.txt"), "outside the room");
}

TEST(a_replacement_and_its_directories_are_made_in_place) {
    char place[PHI__PATH_BYTES];
    phi__way way = PHI_ZERO;
    size_t units = SIZE_MAX;
    phi__file *file, *reader;
    rig r;
    REQUIRE(rig_open(&r));
    CHECK_EQ_INT(resolve(r.room, "New\\Deeper\\b.txt", place, NULL), PHI_OK);
    way.path = place;
    CHECK_EQ_INT(phi__files_make_way(&way, &units, &r.words), PHI_OK);
    phi__files_leave(&way);
    for (int i = 0; i < 3; i++) {
        REQUIRE(CHECK_EQ_INT(phi__files_open_replace(&r.memory, place, &file, &r.words), PHI_OK));
        if (i == 1) phi__files_private(file);
        CHECK_EQ_INT(phi__files_write(file, i == 0 ? "one" : "two", 3, NULL), PHI_OK);
        CHECK_EQ_STR(confined(&r, place), i == 0 ? "none" : "one");
        if (i < 2) { /* an open reader does not hinder it, but in Wine */
            bool reads = !wine() && phi__files_open_read(&r.memory, place, PHI__LINKS_REFUSE,
                                                         &reader, NULL) == PHI_OK;
            CHECK(wine() || reads == (i == 1));
            CHECK_EQ_INT(phi__files_commit(file, &r.words), PHI_OK);
            CHECK_EQ_STR(confined(&r, place), i == 0 ? "one" : "two");
            if (reads) phi__files_close(reader);
        }
        phi__files_close(file); /* the last one is dropped */
        if (i == 1) {
            CHECK_EQ_STR(confined(&r, place), "two");
            put(&r, "Room/New/Deeper/b.txt", "one");
        }
    }
    CHECK_EQ_STR(confined(&r, place), "one");
    phi__ordered *tree;
    phi__ordered_entry entry;
    phi_status status;
    char names[256] = "";
    REQUIRE(CHECK_EQ_INT(phi__ordered_new(&r.memory, r.room, &tree, &r.words), PHI_OK));
    while ((status = phi__ordered_next(tree, &entry, &r.words)) != PHI_NOT_FOUND) {
        if (!CHECK(status == PHI_OK || status == PHI_BUSY)) break;
        if (status != PHI_OK || entry.entered) continue;
        size_t n = strlen(names);
        (void)snprintf(names + n, sizeof names - n, "%s\n", entry.path.at);
    }
    phi__ordered_free(tree);
    CHECK_EQ_STR(names, "Long Directory Name\nLong Directory Name/Long File Name.text\nNew\n"
                        "New/Deeper\nNew/Deeper/b.txt\na.txt\nsub\nsub/a.txt\n");
}

typedef struct listed {
    int files, others;
} listed;

static phi_status list_each(void *ctx, const char *name) {
    listed *all = (listed *)ctx;
    if (strcmp(name, "one") == 0 || strcmp(name, "two") == 0)
        all->files++;
    else if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
        all->others++;
    return PHI_OK;
}

TEST(a_stores_disk_reads_writes_locks_renames_and_removes) {
    const phi__disk *disk = phi__disk_system();
    char one[PHI__PATH_BYTES], two[PHI__PATH_BYTES], bytes[16];
    phi__disk_info info, named;
    intptr_t file, other;
    listed all = PHI_ZERO;
    size_t n;
    rig r;
    REQUIRE(rig_open(&r));
    (void)snprintf(one, sizeof one, "%s", in(&r, "store/one"));
    CHECK_EQ_INT(disk->open(NULL, one, PHI__DISK_CREATE, &file, &r.words), PHI_NOT_FOUND);
    CHECK_EQ_INT(disk->make_directories(NULL, in(&r, "store/"), NULL), PHI_OK);
    CHECK_EQ_INT(disk->make_directories(NULL, in(&r, "store"), NULL), PHI_OK);
    CHECK_EQ_INT(disk->open(NULL, one, PHI__DISK_UPDATE, &file, &r.words), PHI_NOT_FOUND);
    REQUIRE(CHECK_EQ_INT(disk->open(NULL, one, PHI__DISK_CREATE, &file, &r.words), PHI_OK));
    CHECK_EQ_INT(disk->write(NULL, file, 0, "abcdef", 6, &n, NULL), PHI_OK);
    CHECK_EQ_INT(disk->write(NULL, file, 3, "XY", 2, &n, NULL), PHI_OK);
    CHECK_EQ_INT(n, 2);
    CHECK_EQ_INT(disk->cut(NULL, file, 5, NULL), PHI_OK);
    CHECK_EQ_INT(disk->sync(NULL, file, &r.words), PHI_OK);
    CHECK_EQ_INT(disk->read(NULL, file, 1, bytes, sizeof bytes, &n, NULL), PHI_OK);
    CHECK_STR(phi__str(bytes, n), "bcXY");
    CHECK_EQ_INT(disk->read(NULL, file, 5, bytes, sizeof bytes, &n, NULL), PHI_OK);
    CHECK_EQ_INT(n, 0);
    CHECK_EQ_INT(disk->read(NULL, file, (uint64_t)1 << 63, bytes, 1, &n, NULL), PHI_TOO_BIG);
    /* the lock excludes another lock, but neither reading nor writing */
    CHECK_EQ_INT(disk->lock(NULL, file, &r.words), PHI_OK);
    REQUIRE(CHECK_EQ_INT(disk->open(NULL, one, PHI__DISK_UPDATE, &other, NULL), PHI_OK));
    CHECK_EQ_INT(disk->lock(NULL, other, &r.words), PHI_BUSY);
    CHECK_EQ_INT(disk->write(NULL, other, 0, "A", 1, &n, NULL), PHI_OK);
    CHECK_EQ_INT(disk->read(NULL, other, 0, bytes, sizeof bytes, &n, NULL), PHI_OK);
    CHECK_STR(phi__str(bytes, n), "AbcXY");
    CHECK_EQ_INT(disk->info(NULL, file, &info, NULL), PHI_OK);
    CHECK_EQ_INT(disk->info_of(NULL, one, &named, NULL), PHI_OK);
    CHECK(info.regular && info.bytes == 5 && info.file == named.file);
    CHECK(info.device == named.device && named.bytes == 5 && info.changed_ns > 0);
    CHECK_EQ_INT(disk->close(NULL, file, NULL), PHI_OK);
    CHECK_EQ_INT(disk->lock(NULL, other, &r.words), PHI_OK);
    CHECK_EQ_INT(disk->close(NULL, other, NULL), PHI_OK);
    /* replaced by a rename */
    (void)snprintf(two, sizeof two, "%s", in(&r, "store/two"));
    REQUIRE(CHECK_EQ_INT(disk->open(NULL, two, PHI__DISK_FRESH, &file, NULL), PHI_OK));
    CHECK_EQ_INT(disk->write(NULL, file, 0, "second", 6, &n, NULL), PHI_OK);
    CHECK_EQ_INT(disk->close(NULL, file, NULL), PHI_OK);
    CHECK_EQ_INT(disk->list(NULL, in(&r, "store"), list_each, &all, NULL), PHI_OK);
    CHECK(all.files == 2 && all.others == 0);
    CHECK_EQ_INT(disk->rename(NULL, two, one, &r.words), PHI_OK);
    CHECK_EQ_INT(disk->info_of(NULL, two, &named, NULL), PHI_NOT_FOUND);
    CHECK_EQ_INT(disk->info_of(NULL, one, &named, NULL), PHI_OK);
    CHECK_EQ_INT(named.bytes, 6);
    CHECK_EQ_INT(disk->sync_directory(NULL, in(&r, "store"), &r.words), PHI_OK);
    REQUIRE(CHECK_EQ_INT(disk->open(NULL, one, PHI__DISK_FRESH, &file, NULL), PHI_OK));
    CHECK_EQ_INT(disk->info(NULL, file, &info, NULL), PHI_OK);
    CHECK_EQ_INT(info.bytes, 0);
    CHECK_EQ_INT(disk->close(NULL, file, NULL), PHI_OK);
    CHECK_EQ_INT(disk->remove(NULL, one, &r.words), PHI_OK);
    CHECK_EQ_INT(disk->remove(NULL, one, &r.words), PHI_NOT_FOUND);
    /* what is no file */
    CHECK_EQ_INT(disk->open(NULL, in(&r, "store"), PHI__DISK_READ, &file, &r.words), PHI_IO);
    CHECK_EQ_STR(r.words.text, "Is a directory");
    CHECK_EQ_INT(disk->open(NULL, in(&r, "store/NUL"), PHI__DISK_CREATE, &file, NULL), PHI_IO);
    CHECK_EQ_INT(disk->open(NULL, in(&r, "store/a:b"), PHI__DISK_CREATE, &file, NULL), PHI_IO);
}

/* One entry in the list of rights, for the user alone. */
static bool is_private(const char *path) {
    wchar_t wide[PHI__WIDE_PATH];
    union {
        SECURITY_DESCRIPTOR descriptor;
        char bytes[2048];
    } rights;
    ACL *list = NULL;
    BOOL has = FALSE, by_default = FALSE;
    DWORD n = 0;
    return phi__wide_path(path, wide) == 0 &&
           GetFileSecurityW(wide, DACL_SECURITY_INFORMATION, &rights, sizeof rights, &n) &&
           GetSecurityDescriptorDacl(&rights.descriptor, &has, &list, &by_default) && has &&
           list != NULL && (list->AceCount == 1 || wine());
}

TEST(a_new_file_is_its_owners_and_is_removed_unless_it_is_committed) {
    phi__file *file, *again;
    rig r;
    REQUIRE(rig_open(&r));
    REQUIRE(
        CHECK_EQ_INT(phi__files_open_new(&r.memory, in(&r, "Room/new"), &file, &r.words), PHI_OK));
    CHECK_EQ_INT(phi__files_open_new(&r.memory, r.path, &again, &r.words), PHI_BUSY);
    CHECK_EQ_INT(phi__files_write(file, "kept", 4, NULL), PHI_OK);
    CHECK(is_private(r.path));
    phi__files_close(file);
    CHECK_EQ_STR(confined(&r, "new"), "none");
    REQUIRE(CHECK_EQ_INT(phi__files_open_new(&r.memory, r.path, &file, &r.words), PHI_OK));
    CHECK_EQ_INT(phi__files_write(file, "kept", 4, NULL), PHI_OK);
    CHECK_EQ_INT(phi__files_commit(file, NULL), PHI_OK);
    phi__files_close(file);
    CHECK_EQ_STR(confined(&r, "new"), "kept");
    CHECK_EQ_INT(phi__files_open_new(&r.memory, in(&r, "no/such"), &file, &r.words), PHI_NOT_FOUND);
    CHECK_EQ_INT(phi__files_make_directories(in(&r, "Room/new/x"), &r.words), PHI_IO);
    CHECK_EQ_STR(r.words.text, "Not a directory");
    CHECK_EQ_INT(phi__files_make_directories(in(&r, "A\\B//C/"), &r.words), PHI_OK);
}

TEST_MAIN(TEST_ENTRY(paths_of_windows_get_one_style_or_are_refused),
          TEST_ENTRY(a_path_in_the_style_stays_as_it_is),
          TEST_ENTRY(a_base_may_be_a_root_or_on_a_share_or_missing),
          TEST_ENTRY(a_path_is_at_most_4095_bytes_long),
          TEST_ENTRY(a_paths_name_directory_and_drive),
          TEST_ENTRY(absolute_paths_and_the_names_that_windows_looks_up),
          TEST_ENTRY(no_spelling_leads_out_of_the_room),
          TEST_ENTRY(resolved_paths_have_the_long_names_and_letters_of_the_disk),
          TEST_ENTRY(inside_compares_whole_parts_without_regard_to_case),
          TEST_ENTRY(links_are_resolved_and_a_swap_after_the_check_leads_nowhere),
          TEST_ENTRY(a_replacement_and_its_directories_are_made_in_place),
          TEST_ENTRY(a_stores_disk_reads_writes_locks_renames_and_removes),
          TEST_ENTRY(a_new_file_is_its_owners_and_is_removed_unless_it_is_committed))

#else

TEST_MAIN(TEST_ENTRY(paths_of_windows_get_one_style_or_are_refused),
          TEST_ENTRY(a_path_in_the_style_stays_as_it_is),
          TEST_ENTRY(a_base_may_be_a_root_or_on_a_share_or_missing),
          TEST_ENTRY(a_path_is_at_most_4095_bytes_long),
          TEST_ENTRY(a_paths_name_directory_and_drive),
          TEST_ENTRY(absolute_paths_and_the_names_that_windows_looks_up))

#endif
