/* attached.c - objects that higher rooms attach to an agent, and their part of a snapshot. */
#include "features/features_in.h"

/* An object's JSON from a snapshot. Name and text follow this struct in its block. */
typedef struct phi__attached_json {
    phi__link link;
    phi_str name, text;
} phi__attached_json;

typedef struct phi__attached_all {
    phi__list objects;
    /* The next object to renew. Host callbacks may remove any object. They may also begin another
       walk: that walk renews all objects and so ends this one. */
    phi__link *next;
    phi__list saved; /* a list of phi__attached_json */
} phi__attached_all;

static phi__attached_all *phi__attached_of(const phi__agent *agent) {
    return (phi__attached_all *)phi__feature_agent_state(agent, phi__attached_feature);
}

PHI__FN void phi__attached_add(phi__agent *agent, phi__attached *object,
                               const phi__attached_ops *ops) {
    PHI_ASSERT(phi__attached_find(agent, ops->name) == NULL);
    object->ops = ops;
    object->agent = agent;
    phi__list_push(&phi__attached_of(agent)->objects, &object->link);
}

PHI__FN void phi__attached_remove(phi__attached *object) {
    if (object->agent == NULL) return;
    phi__attached_all *all = phi__attached_of(object->agent);
    if (all->next == &object->link) all->next = object->link.next;
    phi__list_take(&all->objects, &object->link);
    object->agent = NULL;
}

PHI__FN phi__attached *phi__attached_find(const phi__agent *agent, const char *name) {
    phi__link *link = phi__attached_of(agent)->objects.first;
    for (; link != NULL; link = link->next) {
        phi__attached *object = PHI__OWNER(link, phi__attached, link);
        if (strcmp(object->ops->name, name) == 0) return object;
    }
    return NULL;
}

/* Calls `freed` for all objects. A `freed` may remove other objects, so each round begins at the
   head. */
static void phi__attached_free_all(phi__attached_all *all) {
    while (all->objects.first != NULL) {
        phi__attached *object = PHI__OWNER(all->objects.first, phi__attached, link);
        phi__attached_remove(object);
        object->ops->freed(object);
    }
}

static void phi__attached_renew_all(const phi__agent *agent, phi__attached_all *all, bool copied) {
    all->next = all->objects.first;
    while (all->next != NULL && agent->slot != NULL) {
        phi__attached *object = PHI__OWNER(all->next, phi__attached, link);
        all->next = all->next->next;
        if (object->ops->renewed != NULL) object->ops->renewed(object, copied);
    }
}

/* ---- the part of a snapshot ---- */

static phi__attached_json *phi__attached_saved_find(const phi__agent *agent, phi_str name) {
    phi__link *link = phi__attached_of(agent)->saved.first;
    for (; link != NULL; link = link->next) {
        phi__attached_json *json = PHI__OWNER(link, phi__attached_json, link);
        if (phi_str_equal(json->name, name)) return json;
    }
    return NULL;
}

static void phi__attached_saved_free(phi__agent *agent, phi__attached_json *json) {
    phi__list_take(&phi__attached_of(agent)->saved, &json->link);
    phi__free(&agent->memory, json, sizeof *json + json->name.len + json->text.len);
}

PHI__FN phi_str phi__attached_saved(const phi__agent *agent, const char *name) {
    const phi__attached_json *json = phi__attached_saved_find(agent, phi_str_of(name));
    return json != NULL ? json->text : phi__str("", 0);
}

PHI__FN void phi__attached_saved_drop(phi__agent *agent, const char *name) {
    phi__attached_json *json = phi__attached_saved_find(agent, phi_str_of(name));
    if (json != NULL) phi__attached_saved_free(agent, json);
}

static bool phi__attached_saved_add(phi__agent *agent, phi_str name, phi_str text) {
    size_t bytes = phi__add(sizeof(phi__attached_json), phi__add(name.len, text.len));
    phi__attached_json *json = (phi__attached_json *)phi__alloc(&agent->memory, bytes);
    if (json == NULL) return false;
    char *at = (char *)(json + 1);
    if (name.len > 0) memcpy(at, name.at, name.len);
    memcpy(at + name.len, text.at, text.len);
    json->name = phi__str(at, name.len);
    json->text = phi__str(at + name.len, text.len);
    phi__list_push(&phi__attached_of(agent)->saved, &json->link);
    return true;
}

static phi_status phi__attached_load(phi__agent *agent, const phi_json *node) {
    phi_json_iter each = phi_json_each(node);
    phi_status status = PHI_OK;
    const phi_json *member;
    phi__buf text;
    if (!phi_json_is(node, PHI_JSON_OBJECT)) return PHI_OK;
    phi__buf_init(&text, &agent->memory);
    while (status == PHI_OK && (member = phi_json_next(&each)) != NULL) {
        phi__buf_clear(&text);
        status = phi__json_write(&text, member, 0);
        if (status == PHI_OK && !phi__attached_saved_add(agent, each.key, phi__buf_str(&text)))
            status = PHI_NO_MEMORY;
    }
    phi__buf_free(&text);
    return status;
}

/* Writes the objects, and the saved JSON that no room has claimed. Writes nothing if there are
   none. */
static void phi__attached_save(const phi__attached_all *all, phi__buf *out, phi_arena *scratch) {
    bool any = all->saved.first != NULL;
    for (const phi__link *link = all->objects.first; link != NULL && !any; link = link->next)
        any = PHI__OWNER(link, const phi__attached, link)->ops->save != NULL;
    if (!any) return;
    phi__json_write_key(out, PHI__LIT("attached"));
    phi__buf_char(out, '{');
    for (const phi__link *link = all->objects.first; link != NULL; link = link->next) {
        const phi__attached *object = PHI__OWNER(link, const phi__attached, link);
        if (object->ops->save == NULL) continue;
        phi__json_write_key(out, phi_str_of(object->ops->name));
        object->ops->save(object, out, scratch);
    }
    for (const phi__link *link = all->saved.first; link != NULL; link = link->next) {
        const phi__attached_json *json = PHI__OWNER(link, const phi__attached_json, link);
        phi__json_write_key(out, json->name);
        phi__buf_add_str(out, json->text);
    }
    phi__buf_char(out, '}');
}

static phi__state phi__attached_at(phi__moment *moment) {
    phi__attached_all *all = (phi__attached_all *)moment->agent_state;
    switch (moment->point) {
    case PHI__POINT_LOG_RENEWED:
        phi__attached_renew_all(moment->agent, all, moment->fold != NULL);
        break;
    case PHI__POINT_AGENT_SAVE_LATE: phi__attached_save(all, moment->out, moment->scratch); break;
    case PHI__POINT_AGENT_LOAD_LATE:
        moment->status = phi__attached_load(moment->agent, phi_json_get(moment->json, "attached"));
        break;
    case PHI__POINT_AGENT_FREED:
        phi__attached_free_all(all);
        while (all->saved.first != NULL)
            phi__attached_saved_free(moment->agent,
                                     PHI__OWNER(all->saved.first, phi__attached_json, link));
        break;
    default: break;
    }
    return PHI__RUN_ON;
}

PHI__FN const phi__feature *phi__attached_feature(void) {
    enum {
        points = PHI__POINT_LOG_RENEWED | PHI__POINT_AGENT_SAVE_LATE | PHI__POINT_AGENT_LOAD_LATE |
                 PHI__POINT_AGENT_FREED
    };
    static const phi__feature feature = {
        points, 0,   sizeof(phi__attached_all), phi__attached_at, NULL, PHI__FEATURE_AT_ATTACHED,
        NULL,   NULL};
    return &feature;
}
