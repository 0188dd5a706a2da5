/* town_people.h - the villagers of town.c: where they walk, whom they meet, and what their
   bubbles say.

   Nothing here knows phi's loop: a villager who wants to say something puts a prompt into
   `wants`, and town.c brings the answer into `says`. */
#ifndef TOWN_PEOPLE_H
#define TOWN_PEOPLE_H

#include "phi.h"

#include <stdio.h>
#include <string.h>

enum {
    TOWN_WIDE = 640,
    TOWN_HIGH = 400,
    PEOPLE = 40,
    SENTENCES = 4,      /* of a talk between two villagers */
    READING = 120,      /* frames that a bubble stays when its text is complete */
    BETWEEN_TALKS = 900 /* frames, at least */
};

typedef struct villager {
    const char *name, *trade;
    phi_agent mind;
    float x, y, to_x, to_y;
    struct villager *with; /* the other one of a talk, or NULL */
    int sentences;         /* that are left of the talk */
    int shy;               /* frames until the next talk may begin */
    char wants[300];       /* the next prompt; empty: none */
    unsigned since;        /* the frame in which it began to wait */
    bool thinks;           /* a run is active */
    char says[300];        /* the bubble; empty: none */
    int shown;             /* frames that the bubble stays */
} villager;

typedef struct people {
    villager all[PEOPLE];
    unsigned frame, chance;
} people;

/* A number below `most`; the same in every run. */
static inline unsigned people_chance(people *p, unsigned most) {
    p->chance = p->chance * 1664525u + 1013904223u;
    return (p->chance >> 10) % most;
}

/* Somewhere around the villager's home: eight columns and five rows of homes. */
static inline void people_choose_way(people *p, villager *v) {
    int i = (int)(v - p->all);
    v->to_x = (float)(i % 8 * 76 + (int)people_chance(p, 108));
    v->to_y = (float)(50 + i / 8 * 62 + (int)people_chance(p, 80));
    if (v->to_x < 12.0f) v->to_x = 12.0f;
}

static inline void people_init(people *p) {
    static const char *const names[PEOPLE] = {
        "Ada",  "Bo",   "Cleo", "Dan",  "Eve",  "Finn", "Gus",  "Hal",  "Ida", "Jon",
        "Kim",  "Lea",  "Max",  "Nan",  "Otto", "Pia",  "Quin", "Rosa", "Sam", "Tess",
        "Ulla", "Vic",  "Wil",  "Xia",  "Yan",  "Zoe",  "Amos", "Bea",  "Cy",  "Dora",
        "Emil", "Fern", "Gil",  "Hope", "Ivo",  "Joy",  "Karl", "Lou",  "Mia", "Ned"};
    static const char *const trades[] = {"baker",  "smith",  "shepherd", "weaver",
                                         "miller", "fisher", "potter",   "carter"};
    int i;
    memset(p, 0, sizeof *p);
    p->chance = 7;
    for (i = 0; i < PEOPLE; i++) {
        villager *v = &p->all[i];
        v->name = names[i];
        v->trade = trades[i % 8];
        v->shy = (int)people_chance(p, BETWEEN_TALKS);
        people_choose_way(p, v);
        v->x = v->to_x;
        v->y = v->to_y;
    }
}

static inline void people_want(people *p, villager *v, const char *prompt) {
    (void)snprintf(v->wants, sizeof v->wants, "%s", prompt);
    v->since = p->frame;
}

static inline float people_far(const villager *a, const villager *b) {
    float x = a->x - b->x, y = a->y - b->y;
    return x * x + y * y;
}

static inline bool people_is_free(const villager *v) {
    return v->with == NULL && v->wants[0] == '\0' && !v->thinks && v->says[0] == '\0';
}

/* Two who come close, and have not talked for a while, begin a talk. */
static inline void people_meet(people *p, villager *v) {
    char prompt[100];
    int i;
    for (i = 0; i < PEOPLE && v->shy == 0 && people_is_free(v); i++) {
        villager *other = &p->all[i];
        if (other == v || other->shy > 0 || !people_is_free(other)) continue;
        if (people_far(v, other) > 30.0f * 30.0f) continue;
        v->with = other;
        other->with = v;
        v->sentences = SENTENCES;
        (void)snprintf(prompt, sizeof prompt, "You meet %s, the %s. Say something.", other->name,
                       other->trade);
        people_want(p, v, prompt);
    }
}

static inline void people_part(villager *v) {
    villager *other = v->with;
    v->with = NULL;
    v->shy = BETWEEN_TALKS;
    if (other != NULL) {
        other->with = NULL;
        other->shy = BETWEEN_TALKS;
    }
}

/* A villager's sentence was read: the bubble goes, and in a talk it is the other one's turn. */
static inline void people_read(people *p, villager *v) {
    char prompt[300];
    villager *other = v->with;
    if (other != NULL && v->sentences > 1 && v->says[0] != '\0') {
        other->sentences = v->sentences - 1;
        (void)snprintf(prompt, sizeof prompt, "%s says: %.200s", v->name, v->says);
        people_want(p, other, prompt);
    } else if (other != NULL) {
        people_part(v);
    }
    v->says[0] = '\0';
}

/* One frame of a villager. During a talk a villager does not walk. */
static inline void people_walk(people *p, villager *v) {
    float x = v->to_x - v->x, y = v->to_y - v->y, far = (x < 0 ? -x : x) + (y < 0 ? -y : y);
    if (v->shy > 0) v->shy--;
    if (v->shown > 0 && --v->shown == 0) people_read(p, v);
    people_meet(p, v);
    if (!people_is_free(v)) return;
    if (far < 2.0f) people_choose_way(p, v);
    if (far < 2.0f) return;
    v->x += 0.6f * x / far;
    v->y += 0.6f * y / far;
}

/* phi_runtime_desc.clock_us_fn for a scripted town: 60 frames are a second, however fast they
   are drawn. */
static uint64_t people_clock(void *user_data) {
    return (uint64_t)((people *)user_data)->frame * 16667;
}

static inline void people_step(people *p) {
    int i;
    p->frame++;
    for (i = 0; i < PEOPLE; i++) people_walk(p, &p->all[i]);
}

#endif
