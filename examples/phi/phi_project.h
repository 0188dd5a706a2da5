/* phi_project.h - what the command tells a model about the place where it works. Copy what you need of it. */
#ifndef PHI_PROJECT_H
#define PHI_PROJECT_H

#include "phi_places.h"

#include <time.h>

enum { PROJECT_BYTES = 64 << 10 }; /* of AGENTS.md */

/* Adds the directory ("." is the working directory), the system, the branch of Git, and the date. */
static inline void project_place(text *out, const char *directory) {
    static const char begins[] = "ref: refs/heads/";
    char here[PLACES_PATH], day[16] = "";
    time_t now = time(NULL);
    const struct tm *t = localtime(&now);
    text head = {NULL, 0, 0}, path = {NULL, 0, 0};
    text_print(&path, "%s/.git/HEAD", directory);
    if (strcmp(directory, ".") != 0)
        text_print(out, "\nDirectory: %s", directory);
    else if (places_here(here, sizeof here))
        text_print(out, "\nDirectory: %s", here);
    text_say(out, "\nSystem: ");
    places_system(out);
    if (places_read(path.at, false, 1000, &head) && head.len > sizeof begins &&
        memcmp(head.at, begins, sizeof begins - 1) == 0)
        text_print(out, "\nGit branch: %.*s", (int)strcspn(head.at + sizeof begins - 1, "\n"),
                   head.at + sizeof begins - 1);
    if (t != NULL && strftime(day, sizeof day, "%Y-%m-%d", t) > 0)
        text_print(out, "\nDate: %s", day);
    free(head.at), free(path.at);
}

/* Adds the instructions of the project. Returns the file's name; NULL: there is none, or it is too long. */
static inline const char *project_instructions(text *out, const char *directory) {
    static const char *const names[] = {"AGENTS.md", "CLAUDE.md"};
    size_t i;
    for (i = 0; i < 2; i++) {
        text file = {NULL, 0, 0}, path = {NULL, 0, 0};
        bool good;
        text_print(&path, "%s/%s", directory, names[i]);
        good = places_is_file(path.at, true) && /* a link may lead out of the directory */
               places_read(path.at, false, PROJECT_BYTES, &file) && file.len > 0 &&
               memchr(file.at, 0, file.len) == NULL;
        if (good) text_print(out, "\n\n%s of this directory:\n\n%s", names[i], file.at);
        free(file.at), free(path.at);
        if (good) return names[i];
    }
    return NULL;
}

#endif
