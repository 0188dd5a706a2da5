/* skills.h - skills: directories with a SKILL.md that a model reads when a task asks for them.

       phi_skills *skills = phi_skills_new(NULL);
       phi_skills_load(skills, "skills", NULL, SIZE_MAX); // a later directory wins
       phi_skills_prompt(skills, PHI_SKILLS_READ_SKILL, "You are ...", &arena, &prompt);
       phi_skills_tool(skills, &tools[0]);           // read_skill

   A skill follows the AgentSkills standard: SKILL.md begins with YAML between two lines "---" and
   holds instructions for the model below. Names and descriptions of all skills are in the system
   prompt; instructions and further files enter the context only when the model reads them, by the
   tool read_skill, or by read_file at the place that the prompt names.

   Loading reads the disk, about 0.1 ms a skill: at start-up the whole, between frames in slices. A
   skill that is broken is left out, or loaded with a warning; phi_skills_problem_at lists both
   kinds. The other skills are not touched by it.

   Ownership: a phi_skills owns all its memory, from its own allocator; every string and skill it
   hands out is valid until phi_skills_free, also of a skill that a later directory has replaced.
   Lifetime:  it must outlive the agents that use its tool.
   Threads:   one at a time; with agents, the pumping thread.
   SAFETY     Instructions of a skill are as trusted as the system prompt: load only directories
   that nobody else writes to. */
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
    size_t memory_limit_bytes; /* of everything of ours (default: none) */
    uint32_t max_skills;       /* further ones are not loaded (default 1,000) */
    uint32_t max_file_bytes;   /* a larger SKILL.md is not loaded (default 1,048,576) */
    uint32_t max_read_bytes;   /* of one answer of read_skill (default 262,144) */
} phi_skills_desc;

typedef struct phi_skill_pair {
    phi_str key, value;
} phi_skill_pair;

/* A skill that is loaded. A field that its SKILL.md does not have is empty. All are UTF-8 and
   terminated. */
typedef struct phi_skill {
    phi_str name; /* that of its directory, whatever SKILL.md says */
    phi_str description;
    phi_str license, compatibility;
    phi_str allowed_tools; /* as written, or a list joined by blanks; phi itself does not use it */
    const phi_skill_pair *metadata;
    size_t metadata_count;
    phi_str source;    /* the label that it was loaded with */
    phi_str base_dir;  /* absolute, without links */
    phi_str file_path; /* of SKILL.md */
} phi_skill;

/* A fault of one SKILL.md. */
typedef struct phi_skill_problem {
    phi_str file;          /* the path of SKILL.md, or of a directory */
    uint32_t line, column; /* from 1; 0: the file as a whole */
    phi_str message;       /* the fault and the rule */
    bool loaded;           /* a warning: the skill can be used, but breaks the standard */
} phi_skill_problem;

/* desc: NULL means defaults. NULL: no memory. */
PHI_API phi_skills *phi_skills_new(const phi_skills_desc *desc);
PHI_API void phi_skills_free(phi_skills *skills); /* NULL is harmless */

/* Loads every skill of a directory, <dir>/<name>/SKILL.md, or the one of a path that ends in
   "/SKILL.md". It replaces skills of the same name. In slices: call it with the same arguments
   until it is not PHI_BUSY; SIZE_MAX units are the whole. A unit is an entry of the directory: a
   few system calls, and 64 KiB read at most. Skills appear as they are read, with `label` as their
   source (copied; NULL: "dir:0", of the next such load "dir:1"...).
   PHI_NOT_FOUND, PHI_IO: the directory, or SKILL.md in it, does not exist or cannot be read;
   PHI_PARSE: the one skill was not loaded; these are problems in the list, too. PHI_MISUSE: the
   load of another directory is under way; PHI_BAD_ARG. PHI_NO_MEMORY, PHI_TOO_BIG (max_skills): the
   skills loaded until then stay. */
PHI_API phi_status phi_skills_load(phi_skills *skills, const char *dir, const char *label,
                                   size_t units);

/* Sorted by name, byte by byte; NULL past the last. */
PHI_API const phi_skill *phi_skills_at(const phi_skills *skills, size_t index);

/* In the order in which they were found, the first 1,000; NULL past the last. The struct is valid
   until the next load. */
PHI_API const phi_skill_problem *phi_skills_problem_at(const phi_skills *skills, size_t index);

/* The text before the index in a prompt: how the model gets at the instructions. */
typedef enum phi_skills_hint {
    PHI_SKILLS_NO_HINT = 0,
    PHI_SKILLS_READ_SKILL, /* for agents with the tool read_skill */
    PHI_SKILLS_READ_FILE   /* for agents with read_file; its allowed_paths must hold the skills */
} phi_skills_hint;

/* A system prompt: `base` (NULL: none), the hint, and the index of all skills,
   <available_skills>...</available_skills>, with a blank line between them, in the arena
   (terminated). The index has the first 1,024 characters of each description. Without a skill the
   prompt is `base` alone. PHI_NO_MEMORY, PHI_BAD_ARG. */
PHI_API phi_status phi_skills_prompt(const phi_skills *skills, phi_skills_hint hint,
                                     const char *base, phi_arena *arena, phi_str *out);

/* Fills *out with the tool read_skill {name, file, offset, limit}: the instructions of a skill,
   with {baseDir} replaced by its directory, or another file, or the names in a directory. It cannot
   leave the directory of the skill, by ".." or by links. The tool borrows `skills`. PHI_BAD_ARG. */
PHI_API phi_status phi_skills_tool(phi_skills *skills, phi_tool *out);

#ifdef __cplusplus
}
#endif
#endif
#endif
