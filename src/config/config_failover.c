/* config_failover.c - the models that an agent goes on with when its own fails. */
#include "config/config_agents_in.h"
#include "features/failover.h"

static phi_status phi__config_failover_models(phi__config_maker *maker,
                                              const phi__config_texts *names, phi_failover *out) {
    phi__config_ground *ground = &maker->ground;
    size_t n = phi__min(names->count, PHI_FAILOVER_MODELS_MOST), i;
    phi_failover_model *models =
        (phi_failover_model *)phi__arena_zero(ground->arena, (n + 1) * sizeof *models);
    if (models == NULL) return PHI_NO_MEMORY;
    if (names->count > n)
        phi__config_words_error(ground, maker->whole.top.failover, PHI_TOO_BIG, "failover",
                                "failover: %u models; at most %d are tried", (unsigned)names->count,
                                PHI_FAILOVER_MODELS_MOST);
    for (i = 0; i < n; i++) {
        const phi_json *node = phi__config_refs_find(ground->config, "provider", names->at[i]);
        phi_status status;
        if (node == NULL) continue;
        status = phi__config_model_make(ground, node, NULL, &models[out->model_count].model, NULL);
        if (status != PHI_OK) return status;
        out->model_count++;
    }
    out->models = models;
    return PHI_OK;
}

/* ---- for other modules ---- */

PHI__FN phi_status phi__config_failover_use(phi__config_maker *maker, phi__config_job *job) {
    phi_arena *arena = maker->ground.arena;
    phi__config_failover taken;
    phi_failover *failover;
    phi_status status;
    memset(&taken, 0, sizeof taken);
    if (!phi__config_take(arena, maker->whole.top.failover, phi__config_tables_failover(), &taken))
        return PHI_NO_MEMORY;
    if (job->taken.failover.at != NULL) taken.models = job->taken.failover;
    if (taken.models.count == 0) return PHI_OK;
    failover = (phi_failover *)phi__arena_zero(arena, sizeof *failover);
    if (failover == NULL) return PHI_NO_MEMORY;
    failover->on = phi__config_take_bits(&taken.on, phi__config_tables_failover_on());
    failover->max_switches = taken.max_switches;
    failover->stay = (phi_failover_stay)taken.stay;
    failover->stay_ms = taken.stay_ms;
    status = phi__config_failover_models(maker, &taken.models, failover);
    if (status == PHI_OK && failover->model_count > 0) job->desc.failover = failover;
    return status;
}
