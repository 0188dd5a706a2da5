/* list_in.h - intrusive lists: the links are members of the listed structs.

       phi__list_push(&list, &thing->link);
       for (link = list.first; link != NULL; link = link->next) use(PHI__OWNER(link, struct thing,
       link));

   A link is in one list at a time; a list that is zeroed is empty. Removing a link costs the same
   wherever it stands. A loop that removes links reads `next` first. A list must not be copied while
   it is in use. */
#ifndef PHI_BASE_LIST_IN_H
#define PHI_BASE_LIST_IN_H

#include "base/base_in.h"

typedef struct phi__link {
    struct phi__link *next, *prev;
} phi__link;

typedef struct phi__list {
    phi__link *first, *last;
} phi__list;

/* At the end. */
static inline void phi__list_push(phi__list *list, phi__link *link) {
    link->next = NULL;
    link->prev = list->last;
    if (list->last != NULL)
        list->last->next = link;
    else
        list->first = link;
    list->last = link;
}

static inline void phi__list_push_first(phi__list *list, phi__link *link) {
    link->prev = NULL;
    link->next = list->first;
    if (list->first != NULL)
        list->first->prev = link;
    else
        list->last = link;
    list->first = link;
}

/* A link that is in this list. */
static inline void phi__list_take(phi__list *list, phi__link *link) {
    if (link->prev != NULL)
        link->prev->next = link->next;
    else
        list->first = link->next;
    if (link->next != NULL)
        link->next->prev = link->prev;
    else
        list->last = link->prev;
    link->next = link->prev = NULL;
}

#endif
