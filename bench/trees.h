/* trees.h - the peers of one delta: each JSON library builds a tree of it and takes the text out.

   What is not installed when this is built is left out. */
#ifndef BENCH_TREES_H
#define BENCH_TREES_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Builds the tree of `data`; if it is a content_block_delta with text, copies that to `out` (of
   `size` bytes, cut) and returns its length. SIZE_MAX: it is not JSON. 64 bytes behind the data may be
   read, and the data may be changed. */
typedef size_t (*tree_fn)(char *data, size_t len, char *out, size_t size);

typedef struct tree_peer {
    const char *name;
    tree_fn take;
} tree_peer;

/* Ends with a NULL name. */
const tree_peer *tree_peers(void);

#ifdef __cplusplus
}
#endif
#endif
