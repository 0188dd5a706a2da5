/* test_commands.c - the table of command lines, and what each of them is taken apart into. */
#include "permissions/permissions.h"

#include "base/buf_in.h"
#include "support/rig.h"

static const char *const names[] = {"ask", "allow", "deny"};

/* {"command": line}, with <NL> as a line's end. */
static void arguments_of(phi__buf *out, const char *line, size_t len) {
    size_t i;
    phi__buf_text(out, "{\"command\":\"");
    for (i = 0; i < len; i++) {
        if (i + 4 <= len && memcmp(line + i, "<NL>", 4) == 0) {
            phi__buf_text(out, "\\n");
            i += 3;
        } else if (line[i] == '\t') {
            phi__buf_text(out, "\\t");
        } else {
            if (line[i] == '"' || line[i] == '\\') phi__buf_char(out, '\\');
            phi__buf_char(out, line[i]);
        }
    }
    phi__buf_text(out, "\"}");
}

static void check_line(phi_permissions *permissions, const char *line, size_t len) {
    phi_memory memory;
    phi__buf arguments;
    phi_permission got;
    phi_str why;
    size_t word = 0;
    while (word < len && line[word] != ' ') word++;
    phi_memory_init(&memory, NULL, 0);
    phi__buf_init(&arguments, &memory);
    arguments_of(&arguments, line + 7, len - 7);
    got = phi_permissions_check(permissions, PHI__LIT("bash"), phi__buf_str(&arguments), &why);
    if (!CHECK(strlen(names[got]) == word && memcmp(names[got], line, word) == 0))
        printf("  %s: %.*s\n    %.*s\n", names[got], (int)len, line, (int)why.len, why.at);
    phi__buf_free(&arguments);
}

static int check_table(const char *file, phi_permission_mode mode) {
    char *table = test_read_file(file, NULL), *at = table;
    phi_permissions_desc desc;
    phi_permissions *permissions;
    int lines = 0;
    if (!CHECK(table != NULL)) return 0;
    memset(&desc, 0, sizeof desc);
    desc.allocator = test_allocator();
    desc.rules = phi_permissions_mode(mode);
    desc.workspace = "/made/project";
    desc.home = "/home/ada";
    permissions = phi_permissions_new(&desc, NULL);
    if (!CHECK(permissions != NULL)) return 0;
    while (*at != '\0') {
        size_t len = strcspn(at, "\n");
        if (len > 7 && *at != '#') {
            check_line(permissions, at, len);
            lines++;
        }
        at += len + (at[len] == '\n');
    }
    printf("  %d command lines\n", lines);
    phi_permissions_free(permissions);
    free(table);
    return lines;
}

TEST(each_line_of_the_table_has_its_verdict) {
    CHECK(check_table("tests/permissions/commands.txt", PHI_PERMISSION_MODE_DEFAULT) >= 600);
}

TEST(each_line_of_the_table_of_edits_has_its_verdict) {
    CHECK(check_table("tests/permissions/edits.txt", PHI_PERMISSION_MODE_ACCEPT_EDITS) >= 80);
}

TEST_MAIN(TEST_ENTRY(each_line_of_the_table_has_its_verdict),
          TEST_ENTRY(each_line_of_the_table_of_edits_has_its_verdict))
