/* town_draw.h - the picture of town.c, with SDL's rectangles and points alone: a place, houses,
   people, bubbles. */
#ifndef TOWN_DRAW_H
#define TOWN_DRAW_H

#include "town_font.h"
#include "town_people.h"

#include <SDL.h>

enum { BUBBLE_COLUMNS = 20, BUBBLE_LINES = 5, ZOOM = 2 };

static inline void draw_colour(SDL_Renderer *r, unsigned rgb) {
    (void)SDL_SetRenderDrawColor(r, (Uint8)(rgb >> 16), (Uint8)(rgb >> 8), (Uint8)rgb, 255);
}

static inline void draw_box(SDL_Renderer *r, int x, int y, int wide, int high, unsigned rgb) {
    SDL_Rect box = {x, y, wide, high};
    draw_colour(r, rgb);
    (void)SDL_RenderFillRect(r, &box);
}

/* The font has ASCII alone: a question mark stands for any other byte. */
static inline void draw_text(SDL_Renderer *r, int x, int y, const char *text, int len,
                             unsigned rgb) {
    SDL_Point dots[40];
    int i, bit, n;
    draw_colour(r, rgb);
    for (i = 0; i < len; i++, x += FONT_WIDE) {
        unsigned c = (unsigned char)text[i];
        const unsigned char *columns = town_font[c >= 32 && c < 127 ? c - 32 : '?' - 32];
        for (n = 0, bit = 0; bit < 40; bit++)
            if (columns[bit / 8] >> bit % 8 & 1) {
                dots[n].x = x + bit / 8;
                dots[n++].y = y + bit % 8;
            }
        (void)SDL_RenderDrawPoints(r, dots, n);
    }
}

/* Breaks a text at its blanks into lines; the last BUBBLE_LINES of them are kept. Returns their
   number. */
static inline int draw_break(const char *text, const char *lines[], int lens[]) {
    int n = 0, i;
    while (*text != '\0') {
        int len = 0, end;
        for (end = 0; end <= BUBBLE_COLUMNS && text[end] != '\0'; end++)
            if (text[end] == ' ') len = end;
        if (text[end] == '\0' && end <= BUBBLE_COLUMNS) len = end;
        if (len == 0) len = BUBBLE_COLUMNS;
        if (n == BUBBLE_LINES)
            for (n--, i = 0; i < n; i++) lines[i] = lines[i + 1], lens[i] = lens[i + 1];
        lines[n] = text;
        lens[n++] = len;
        text += len;
        while (*text == ' ') text++;
    }
    return n;
}

static inline void draw_bubble(SDL_Renderer *r, const villager *v, unsigned frame) {
    const char *lines[BUBBLE_LINES], *text = v->says;
    int lens[BUBBLE_LINES], n, i, wide = 0, x, y, high;
    char dots[4] = "...";
    if (text[0] == '\0' && !v->thinks) return;
    if (text[0] == '\0') dots[1 + frame / 15 % 3] = '\0', text = dots; /* it thinks */
    n = draw_break(text, lines, lens);
    for (i = 0; i < n; i++) wide = lens[i] > wide ? lens[i] : wide;
    wide = wide * FONT_WIDE + 7;
    high = n * FONT_HIGH + 5;
    x = (int)v->x - wide / 2;
    y = (int)v->y - 24 - high;
    x = x < 2 ? 2 : x + wide > TOWN_WIDE - 2 ? TOWN_WIDE - 2 - wide : x;
    y = y < 2 ? 2 : y;
    draw_box(r, x + 1, y, wide - 2, high, 0x30343f);
    draw_box(r, x, y + 1, wide, high - 2, 0x30343f);
    draw_box(r, (int)v->x - 2, y + high, 5, 3, 0x30343f);
    draw_box(r, x + 1, y + 1, wide - 2, high - 2, 0xfffdf5);
    draw_box(r, (int)v->x - 1, y + high - 1, 3, 3, 0xfffdf5);
    for (i = 0; i < n; i++) draw_text(r, x + 4, y + 3 + i * FONT_HIGH, lines[i], lens[i], 0x30343f);
}

static inline void draw_villager(SDL_Renderer *r, const villager *v, int index, bool chosen) {
    static const unsigned coats[] = {0xc8553d, 0x3d6cc8, 0xd9a441, 0x7d4fa8,
                                     0x2f8f83, 0xb5446e, 0x5b6a3a, 0x8a5a36};
    static const unsigned hairs[] = {0x3a2a1d, 0x8a6b3d, 0x1f1f26, 0xb8b2a7, 0xa4482a};
    int x = (int)v->x, y = (int)v->y, len = (int)strlen(v->name);
    if (chosen) draw_box(r, x - 8, y + 1, 17, 4, 0xffe680);
    draw_box(r, x - 5, y + 2, 11, 2, 0x5f8a4c);
    draw_box(r, x - 3, y - 2, 3, 5, 0x4a3f35);
    draw_box(r, x + 1, y - 2, 3, 5, 0x4a3f35);
    draw_box(r, x - 4, y - 10, 9, 9, coats[index % 8]);
    draw_box(r, x - 3, y - 17, 7, 7, 0xf0c9a4);
    draw_box(r, x - 3, y - 19, 7, 3, hairs[index % 5]);
    draw_box(r, x - 1, y - 14, 1, 1, 0x30343f);
    draw_box(r, x + 2, y - 14, 1, 1, 0x30343f);
    if (chosen) draw_text(r, x - len * FONT_WIDE / 2, y + 7, v->name, len, 0x22331c);
}

static inline void draw_house(SDL_Renderer *r, int x, int y, unsigned roof) {
    int i;
    draw_box(r, x, y, 46, 26, 0xe8d9b8);
    for (i = 0; i < 14; i++) draw_box(r, x - 5 + i * 2, y - 1 - i, 56 - i * 4, 1, roof);
    draw_box(r, x + 19, y + 11, 9, 15, 0x6b4a2f);
    draw_box(r, x + 5, y + 8, 9, 8, 0x8fc1d9);
    draw_box(r, x + 33, y + 8, 9, 8, 0x8fc1d9);
}

static inline void draw_place(SDL_Renderer *r) {
    int i;
    draw_box(r, 0, 0, TOWN_WIDE, TOWN_HIGH, 0x7fae62);
    for (i = 0; i < 400; i++) draw_box(r, i * 97 % 640, i * 61 % 400, 2, 1, 0x719f57);
    draw_box(r, 0, 196, TOWN_WIDE, 26, 0xd9c79a);
    draw_box(r, 306, 0, 28, TOWN_HIGH, 0xd9c79a);
    draw_box(r, 262, 168, 116, 82, 0xd9c79a);
    draw_box(r, 308, 196, 24, 20, 0x8c8c94); /* the well */
    draw_box(r, 312, 199, 16, 14, 0x3f6f9f);
    for (i = 0; i < 8; i++)
        draw_house(r, 40 + i % 4 * 150 + (i % 4 > 1 ? 70 : 0), i < 4 ? 70 : 290,
                   i % 3 == 0   ? 0xa8483a
                   : i % 3 == 1 ? 0x7a5a8c
                                : 0x4f7a8c);
}

/* The people, the lower the later, so that a nearer villager hides a farther one; then the
   bubbles, that of the chosen one on top. */
static inline void draw_people(SDL_Renderer *r, const people *p, int chosen) {
    int order[PEOPLE], i, j;
    for (i = 0; i < PEOPLE; i++) {
        for (j = i; j > 0 && p->all[order[j - 1]].y > p->all[i].y; j--) order[j] = order[j - 1];
        order[j] = i;
    }
    for (i = 0; i < PEOPLE; i++) draw_villager(r, &p->all[order[i]], order[i], order[i] == chosen);
    for (i = 0; i < PEOPLE; i++) draw_bubble(r, &p->all[order[i]], p->frame);
    draw_bubble(r, &p->all[chosen], p->frame);
}

/* The line at the bottom, with what is typed. */
static inline void draw_line(SDL_Renderer *r, const char *name, const char *typed) {
    char text[160];
    int len = snprintf(text, sizeof text, "to %s: %s_", name, typed);
    draw_box(r, 0, TOWN_HIGH - 16, TOWN_WIDE, 16, 0x30343f);
    draw_text(r, 6, TOWN_HIGH - 12, text, len, 0xfffdf5);
}

/* ---- for tests ---- */

/* Types words and Enter, as a player does. */
static inline void draw_type(const char *words) {
    SDL_Event e;
    memset(&e, 0, sizeof e);
    e.type = SDL_TEXTINPUT;
    (void)snprintf(e.text.text, sizeof e.text.text, "%s", words);
    (void)SDL_PushEvent(&e);
    memset(&e, 0, sizeof e);
    e.type = SDL_KEYDOWN;
    e.key.keysym.sym = SDLK_RETURN;
    (void)SDL_PushEvent(&e);
}

/* Writes the picture as a BMP file. */
static inline bool draw_keep(SDL_Renderer *r, const char *path) {
    SDL_Surface *s = SDL_CreateRGBSurfaceWithFormat(0, TOWN_WIDE * ZOOM, TOWN_HIGH * ZOOM, 32,
                                                    SDL_PIXELFORMAT_ARGB8888);
    bool kept = s != NULL &&
                SDL_RenderReadPixels(r, NULL, s->format->format, s->pixels, s->pitch) == 0 &&
                SDL_SaveBMP(s, path) == 0;
    SDL_FreeSurface(s);
    return kept;
}

#endif
