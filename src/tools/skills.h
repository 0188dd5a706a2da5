/* skills.h - skills: directories with a SKILL.md that a model reads when a task asks for them.

       phi_skills *skills = phi_skills_new(NULL);
       phi_skills_load(skills, "skills", NULL, SIZE_MAX); // a later directory wins
       phi_skills_prompt(skills, PHI_SKILLS_READ_SKILL, "You are ...", &arena, &prompt);
       phi_skills_tool(skills, &tools[0]);           // read_skill

   A skill follows the AgentSkills standard: SKILL.md begins with YAML between two lines "---".
   Instructions for the model follow. The system prompt holds the names and descriptions of all
   skills. Instructions and further files enter the context only when the model reads them, by the
   tool read_skill, or by read_file at the path that the prompt names.

   Loading reads the disk and takes about 0.1 ms a skill. Load all at once at start-up, or in slices
   between frames. A broken skill is left out, or loaded with a warning; phi_skills_problem_at lists
   both kinds. Other skills are loaded all the same.

   Ownership: a phi_skills owns all its memory, from its own allocator. Every string and skill it
              returns is valid until phi_skills_free, even after a later load replaced the skill.
   Lifetime:  a phi_skills must outlive the agents that use its tool.
   Threads:   one at a time; with agents, the pumping thread.
   SAFETY Instructions of a skill are as trusted as the system prompt: load only directories that
   nobody else writes to. */
#ifndef PHI_TOOLS_SKILLS_H
#define PHI_TOOLS_SKILLS_H

#include "loop/tool.h"
#include "base/arena.h"

#ifndef PHI_NO_FILES

#ifdef __cplusplus
extern "C" {
#endif

typedef struct phi_skills phi_skills;

/* Zero means default for every field. */
typedef struct phi_skills_desc {
    phi_allocator allocator;   /* copied (default: the C library's) */
    size_t memory_limit_bytes; /* limit for all memory of the phi_skills (default: no limit) */
    uint32_t max_skills;       /* more skills are not loaded (default 1,000) */
    uint32_t max_file_bytes;   /* a larger SKILL.md is not loaded (default 1,048,576) */
    uint32_t max_read_bytes;   /* max. bytes of a read_skill result (default 262,144) */
} phi_skills_desc;

typedef struct phi_skill_pair {
    phi_str key, value;
} phi_skill_pair;

/* A loaded skill. A field that its SKILL.md lacks is empty. Strings are UTF-8 and terminated. */
typedef struct phi_skill {
    phi_str name; /* name of the skill's directory, whatever SKILL.md says */
    phi_str description;
    phi_str license, compatibility;
    phi_str allowed_tools; /* as written; a list is joined by blanks; phi does not use it */
    const phi_skill_pair *metadata;
    size_t metadata_count;
    phi_str source;    /* the label given to phi_skills_load */
    phi_str base_dir;  /* absolute, without links */
    phi_str file_path; /* path of SKILL.md */
} phi_skill;

/* A fault of one SKILL.md. */
typedef struct phi_skill_problem {
    phi_str file;          /* path of SKILL.md, or of a directory */
    uint32_t line, column; /* counted from 1; 0: the file as a whole */
    phi_str message;       /* names the fault and the rule */
    bool loaded;           /* true: only a warning; the skill is loaded, but breaks the standard */
} phi_skill_problem;

/* Returns a new set of skills, or NULL without memory. If desc is NULL, all fields are defaults. */
PHI_API phi_skills *phi_skills_new(const phi_skills_desc *desc);
PHI_API void phi_skills_free(phi_skills *skills); /* NULL is harmless */

/* Loads every skill of a directory, <dir>/<name>/SKILL.md, or a single skill if the path ends in
   "/SKILL.md". A loaded skill replaces one of the same name. Can load in slices: call it with the
   same arguments until it does not return PHI_BUSY. SIZE_MAX units load all at once. A unit is an
   entry of the directory: a few system calls, and at most 64 KiB read. Skills appear as they are
   read, with `label` as their source (copied; if NULL, "dir:0", then "dir:1"...).

   PHI_NOT_FOUND, PHI_IO: the directory or the single SKILL.md does not exist or cannot be read.
   PHI_PARSE: the single skill was not loaded. In these three cases, a problem says why. PHI_MISUSE:
   the load of another directory is under way. PHI_BAD_ARG: an argument is missing. PHI_NO_MEMORY,
   PHI_TOO_BIG (max_skills): the load ends, and the skills loaded so far stay. */
PHI_API phi_status phi_skills_load(phi_skills *skills, const char *dir, const char *label,
                                   size_t units);

/* Returns a skill, or NULL past the last. Skills are sorted by name, byte by byte. */
PHI_API const phi_skill *phi_skills_at(const phi_skills *skills, size_t index);

/* Returns a problem, or NULL past the last. Problems are in the order found; only the first 1,000
   are kept. The struct is valid until the next load. */
PHI_API const phi_skill_problem *phi_skills_problem_at(const phi_skills *skills, size_t index);

/* The text before the index in a prompt. It tells the model how to read the instructions. */
typedef enum phi_skills_hint {
    PHI_SKILLS_NO_HINT = 0,
    PHI_SKILLS_READ_SKILL, /* for agents with the tool read_skill */
    PHI_SKILLS_READ_FILE   /* for agents with read_file, whose allowed_paths must hold the skills */
} phi_skills_hint;

/* Writes a system prompt into the arena (terminated): `base` (NULL: none), the hint, and the index
   of all skills, <available_skills>...</available_skills>, with blank lines between them. The index
   has the first 1,024 characters of each description. If there are no skills, the prompt is `base`
   alone. PHI_NO_MEMORY, PHI_BAD_ARG. */
PHI_API phi_status phi_skills_prompt(const phi_skills *skills, phi_skills_hint hint,
                                     const char *base, phi_arena *arena, phi_str *out);

/* Fills *out with the tool read_skill {name, file, offset, limit}. The tool reads the instructions
   or another file of a skill, or lists a directory. In instructions, the skill's directory replaces
   {baseDir}. Neither ".." nor links lead out of the skill's directory. The tool borrows `skills`.
   PHI_BAD_ARG: an argument is NULL. */
PHI_API phi_status phi_skills_tool(phi_skills *skills, phi_tool *out);

#ifdef __cplusplus
}
#endif
#endif
#endif
