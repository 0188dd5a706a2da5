/* model.c - which server a model is at, and what its answers cost. */
#include "model/model_in.h"

/* Scheme, host and port. */
static phi_str phi__model_origin(const char *address) {
    phi_str url = phi_str_of(address);
    size_t at = phi__str_find(url, 0, "://");
    for (at = at == SIZE_MAX ? 0 : at + 3; at < url.len; at++)
        if (strchr("/?#", url.at[at]) != NULL) break;
    return phi__str(url.at, at);
}

PHI__FN bool phi__model_same_server(const char *a, const char *b) {
    return phi_str_equal(phi__model_origin(a), phi__model_origin(b));
}

PHI__FN bool phi__model_is_at(const phi_model *model, const char *address) {
    return phi__model_same_server(model->base_url, address);
}

PHI_API double phi_cost_of(const phi_cost *rates, const phi_usage *usage) {
    return ((double)usage->input * rates->input + (double)usage->output * rates->output +
            (double)usage->cache_read * rates->cache_read +
            (double)usage->cache_write * rates->cache_write) /
           1e6;
}
