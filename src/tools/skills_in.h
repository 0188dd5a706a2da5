/* skills_in.h - the set of skills from within: its lists, its loader, the rules of SKILL.md.

   Skills and their strings live in one arena and never move. A fault of a skill is a problem in the
   list, not a failure of the load; only a lack of memory ends it. */
#ifndef PHI_TOOLS_SKILLS_IN_H
#define PHI_TOOLS_SKILLS_IN_H

#include "tools/tools_in.h"
#include "base/base_in.h"
#include "system/system_in.h"
#include "text/text_in.h"
#include "tools/skills.h"

#ifndef PHI_NO_FILES
enum {
    PHI__SKILLS_FRONT_BYTES = 65536, /* of front matter at most, its two lines "---" included */
    PHI__SKILLS_PROBLEMS = 1000
};

/* Puts a skill of the arena into its place, over one of the same name. */
PHI__FN phi_status phi__skills_put(phi_skills *skills, phi_skill *skill);

/* The place of a name, or for a new one. */
PHI__FN size_t phi__skills_place(const phi_skills *skills, phi_str name, bool *found);

/* Notes a problem; false: no memory. All strings are copied, and made fit to be shown. */
PHI__FN bool phi__skills_problem(phi_skills *skills, const phi_skill_problem *problem);

/* Where the parts of a SKILL.md are; offsets into its text. */
typedef struct phi__front_matter {
    size_t yaml_at, yaml_len; /* between the two lines */
    size_t body_at;
    uint32_t first_line; /* the number of the line at yaml_at */
    bool early;          /* the text begins with "---", without blanks before it */
} phi__front_matter;

/* PHI_NOT_FOUND: the text does not begin with "---"; PHI_PARSE: no line "---" ends it. */
PHI__FN phi_status phi__front_split(phi_str text, phi__front_matter *out);

/* The line of a top-level key, from 1 within the YAML; 0: not found. */
PHI__FN uint32_t phi__front_line(phi_str yaml, const char *key);

/* The first YAML that the standard's validator refuses: a flow collection, an anchor, an alias, a
   tag. NULL: nothing. *line as above. Static. */
PHI__FN const char *phi__front_fancy(phi_str yaml, uint32_t *line);

/* Without a YAML reader: the value behind "key:" of a line, quotes removed; empty: none. */
PHI__FN phi_str phi__front_value(phi_str yaml, const char *key);

typedef struct phi__skill_rules {
    const phi_json *root; /* the front matter, an object */
    phi_str directory;    /* its name */
    /* key: at which field; fatal: the skill cannot be loaded */
    void (*fault)(void *ctx, const char *key, const char *message, bool fatal);
    void *ctx;
} phi__skill_rules;

PHI__FN void phi__skill_check(const phi__skill_rules *rules);

/* Loads the skill of a directory, which may be a link. PHI_NOT_FOUND: there is none; PHI_PARSE: it
   has a problem, and was not loaded; PHI_NO_MEMORY, PHI_TOO_BIG: the whole load ends. */
PHI__FN phi_status phi__skill_load(phi_skills *skills, const char *dir, phi_str label);
#endif

#endif
