/* regex_set.c - sets of characters: united, folded, negated. */
#include "match/regex_tree_in.h"

PHI__FN void phi__regex_set_begin(phi__regex_tree *tree) { tree->open = tree->range_count; }

PHI__FN phi_status phi__regex_set_add(phi__regex_tree *tree, uint32_t first, uint32_t last) {
    phi__range *ranges;
    if (tree->range_count >= PHI__REGEX_RANGES) return PHI_FULL;
    ranges = (phi__range *)phi__grow(tree->memory, tree->ranges, &tree->range_cap,
                                     tree->range_count + 1, sizeof *ranges);
    if (ranges == NULL) return PHI_NO_MEMORY;
    tree->ranges = ranges;
    ranges[tree->range_count].first = first;
    ranges[tree->range_count++].last = last;
    return PHI_OK;
}

PHI__FN phi_status phi__regex_set_add_class(phi__regex_tree *tree, char letter) {
    size_t count, i;
    bool outside = letter < 'a';
    const phi__range *rows = letter == 'd' || letter == 'D'   ? phi__regex_tables_digit(&count)
                             : letter == 's' || letter == 'S' ? phi__regex_tables_space(&count)
                                                              : phi__regex_tables_word(&count);
    phi_status status = PHI_OK;
    uint32_t from = 0;
    for (i = 0; i < count && status == PHI_OK; i++) {
        if (!outside)
            status = phi__regex_set_add(tree, rows[i].first, rows[i].last);
        else if (rows[i].first > from)
            status = phi__regex_set_add(tree, from, rows[i].first - 1);
        from = rows[i].last + 1;
    }
    if (outside && status == PHI_OK) status = phi__regex_set_add(tree, from, PHI__REGEX_LAST_CODE);
    return status;
}

/* Whether one of the characters is in a set of ranges in order and apart. */
static bool phi__regex_set_meets(const phi__range *ranges, size_t count, uint32_t first,
                                 uint32_t last) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (first > ranges[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && ranges[low].first <= last;
}

/* Of ranges in order and apart. */
PHI__FN bool phi__regex_set_has(const phi__range *ranges, size_t count, uint32_t code) {
    return phi__regex_set_meets(ranges, count, code, code);
}

static void phi__regex_set_sink(phi__range *rows, size_t at, size_t n) {
    phi__range row = rows[at];
    size_t child;
    while ((child = 2 * at + 1) < n) {
        if (child + 1 < n && rows[child].first < rows[child + 1].first) child++;
        if (rows[child].first <= row.first) break;
        rows[at] = rows[child];
        at = child;
    }
    rows[at] = row;
}

static void phi__regex_set_sort(phi__range *rows, size_t n) {
    size_t i;
    for (i = n / 2; i > 0; i--) phi__regex_set_sink(rows, i - 1, n);
    for (i = n; i > 1; i--) {
        phi__range first = rows[0];
        rows[0] = rows[i - 1];
        rows[i - 1] = first;
        phi__regex_set_sink(rows, 0, i - 1);
    }
}

/* The ranges of the set being made: in order and apart. */
static void phi__regex_set_order(phi__regex_tree *tree) {
    phi__range *rows = tree->ranges + tree->open;
    size_t n = tree->range_count - tree->open, i, kept = 0;
    if (n < 2) return;
    for (i = 1; i < n && rows[i].first > rows[i - 1].last + 1; i++) continue;
    if (i == n) return;
    phi__regex_set_sort(rows, n);
    for (i = 1; i < n; i++) {
        if (rows[i].first > rows[kept].last + 1)
            rows[++kept] = rows[i];
        else if (rows[i].last > rows[kept].last)
            rows[kept].last = rows[i].last;
    }
    tree->range_count = tree->open + kept + 1;
}

/* With ASCII alone in it, only two characters beyond are concerned: the Kelvin sign and the long
   s. */
static phi_status phi__regex_set_fold_ascii(phi__regex_tree *tree, size_t end) {
    phi_status status = PHI_OK;
    size_t i;
    for (i = tree->open; i < end && status == PHI_OK; i++) {
        uint32_t code = tree->ranges[i].first, last = tree->ranges[i].last;
        for (; code <= last && status == PHI_OK; code++) {
            uint32_t small = code | 0x20;
            if (small < 'a' || small > 'z') continue;
            status = phi__regex_set_add(tree, code ^ 0x20, code ^ 0x20);
            if (small == 'k' && status == PHI_OK) status = phi__regex_set_add(tree, 0x212A, 0x212A);
            if (small == 's' && status == PHI_OK) status = phi__regex_set_add(tree, 0x17F, 0x17F);
        }
    }
    return status;
}

/* up: adds the characters whose representative is in the set; else the representatives. */
static phi_status phi__regex_set_fold_way(phi__regex_tree *tree, bool up) {
    size_t count, i, n = tree->range_count - tree->open;
    const phi__regex_fold *folds = phi__regex_tables_folds(&count);
    phi_status status = PHI_OK;
    for (i = 0; i < count && status == PHI_OK; i++) {
        uint32_t code = folds[i].first, shift = up ? folds[i].down : 0;
        if (!phi__regex_set_meets(tree->ranges + tree->open, n, code - shift,
                                  folds[i].last - shift))
            continue;
        for (; code <= folds[i].last && status == PHI_OK; code += folds[i].step) {
            uint32_t from = up ? code - folds[i].down : code;
            uint32_t to = up ? code : code - folds[i].down;
            if (phi__regex_set_has(tree->ranges + tree->open, n, from))
                status = phi__regex_set_add(tree, to, to);
        }
    }
    phi__regex_set_order(tree);
    return status;
}

PHI__FN phi_status phi__regex_set_fold(phi__regex_tree *tree) {
    phi_status status;
    phi__regex_set_order(tree);
    if (tree->range_count == tree->open) return PHI_OK;
    if (tree->ranges[tree->range_count - 1].last < 0x80) {
        status = phi__regex_set_fold_ascii(tree, tree->range_count);
        phi__regex_set_order(tree);
        return status;
    }
    status = phi__regex_set_fold_way(tree, false);
    return status == PHI_OK ? phi__regex_set_fold_way(tree, true) : status;
}

PHI__FN phi_status phi__regex_set_negate(phi__regex_tree *tree) {
    phi_status status = PHI_OK;
    size_t i, n;
    uint32_t from = 0;
    phi__regex_set_order(tree);
    n = tree->range_count - tree->open;
    for (i = 0; i < n && status == PHI_OK; i++) {
        phi__range row = tree->ranges[tree->open + i];
        if (row.first > from) status = phi__regex_set_add(tree, from, row.first - 1);
        from = row.last + 1;
    }
    if (from <= PHI__REGEX_LAST_CODE && status == PHI_OK)
        status = phi__regex_set_add(tree, from, PHI__REGEX_LAST_CODE);
    if (status != PHI_OK) return status;
    tree->range_count -= n;
    if (n > 0)
        memmove(tree->ranges + tree->open, tree->ranges + tree->open + n,
                (tree->range_count - tree->open) * sizeof *tree->ranges);
    return PHI_OK;
}

static phi_status phi__regex_set_drop_newline(phi__regex_tree *tree) {
    size_t i;
    phi__range *row;
    for (i = tree->open; i < tree->range_count; i++) {
        row = &tree->ranges[i];
        if (row->first > '\n' || row->last < '\n') continue;
        if (row->first == '\n' && row->last == '\n') {
            memmove(row, row + 1, (tree->range_count - i - 1) * sizeof *row);
            tree->range_count--;
        } else if (row->first == '\n')
            row->first++;
        else if (row->last == '\n')
            row->last--;
        else {
            uint32_t last = row->last;
            phi_status status = phi__regex_set_add(tree, '\n' + 1, last);
            if (status != PHI_OK) return status;
            tree->ranges[i].last = '\n' - 1;
            phi__regex_set_sort(tree->ranges + tree->open, tree->range_count - tree->open);
        }
        break;
    }
    return PHI_OK;
}

PHI__FN phi_status phi__regex_set_end(phi__regex_tree *tree, uint32_t *out) {
    phi__regex_set *sets;
    size_t i, n;
    phi_status status;
    phi__regex_set_order(tree);
    status = phi__regex_set_drop_newline(tree);
    if (status != PHI_OK) return status;
    n = tree->range_count - tree->open;
    for (i = 0; i < tree->set_count; i++) {
        const phi__regex_set *set = &tree->sets[i];
        if (set->count != n || (n > 0 && memcmp(tree->ranges + set->at, tree->ranges + tree->open,
                                                n * sizeof *tree->ranges) != 0))
            continue;
        tree->range_count = tree->open;
        *out = (uint32_t)i;
        return PHI_OK;
    }
    sets = (phi__regex_set *)phi__grow(tree->memory, tree->sets, &tree->set_cap,
                                       tree->set_count + 1, sizeof *sets);
    if (sets == NULL) return PHI_NO_MEMORY;
    tree->sets = sets;
    sets[tree->set_count].at = (uint32_t)tree->open;
    sets[tree->set_count].count = (uint32_t)n;
    *out = (uint32_t)tree->set_count++;
    return PHI_OK;
}
