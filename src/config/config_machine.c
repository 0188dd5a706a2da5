/* config_machine.c - a reasoning strategy of the file, as a provider. */
#include "config/config_agents_in.h"
#include "loop/provider.h"
#include "strategy/strategy.h"

/* What a strategy borrows as long as its agents live. */
typedef struct phi__config_machine {
    phi_provider provider;
    phi_strategy_desc desc;
    phi__config_strategy taken;
    phi__config_cot cot, cod;
    phi__config_aot aot;
    phi__config_tot tot;
    phi__config_got got;
    phi__config_trm trm;
    phi__config_adaptive adaptive;
} phi__config_machine;

static bool phi__config_machine_take(phi_arena *arena, const phi_json *node,
                                     phi__config_machine *m) {
    const phi__config_strategy *s = &m->taken;
    bool ok = phi__config_take(arena, node, phi__config_tables_strategy(), &m->taken) &&
              phi__config_take(arena, s->cot, phi__config_tables_cot(), &m->cot) &&
              phi__config_take(arena, s->cod, phi__config_tables_cot(), &m->cod) &&
              phi__config_take(arena, s->aot, phi__config_tables_aot(), &m->aot) &&
              phi__config_take(arena, s->tot, phi__config_tables_tot(), &m->tot) &&
              phi__config_take(arena, s->got, phi__config_tables_got(), &m->got) &&
              phi__config_take(arena, s->trm, phi__config_tables_trm(), &m->trm) &&
              phi__config_take(arena, s->adaptive, phi__config_tables_adaptive(), &m->adaptive);
    m->cot.options.has_temperature =
        phi__config_fields_has(phi__config_tables_cot(), &m->cot, "temperature");
    m->cod.options.has_temperature =
        phi__config_fields_has(phi__config_tables_cot(), &m->cod, "temperature");
    m->tot.options.has_temperature =
        phi__config_fields_has(phi__config_tables_tot(), &m->tot, "temperature");
    m->got.options.has_temperature =
        phi__config_fields_has(phi__config_tables_got(), &m->got, "temperature");
    m->trm.options.has_temperature =
        phi__config_fields_has(phi__config_tables_trm(), &m->trm, "temperature");
    m->aot.options.examples = m->aot.examples.at;
    m->aot.options.example_count = m->aot.examples.count;
    return ok;
}

static void phi__config_machine_adaptive(phi__config_machine *m) {
    phi_adaptive_options *options = &m->adaptive.options;
    options->available = m->adaptive.available.at;
    options->available_count = m->adaptive.available.count;
    options->cot = &m->cot.options;
    options->cod = &m->cod.options;
    options->aot = &m->aot.options;
    options->tot = &m->tot.options;
    options->got = &m->got.options;
    options->trm = &m->trm.options;
    m->desc.strategy = phi_strategy_adaptive();
    m->desc.options = options;
}

static void phi__config_machine_choose(phi__config_machine *m) {
    phi_strategy_desc *desc = &m->desc;
    switch (m->taken.type) {
    case PHI__CONFIG_STRATEGY_COT:
        desc->strategy = phi_strategy_cot(PHI_COT_STEPS);
        desc->options = &m->cot.options;
        break;
    case PHI__CONFIG_STRATEGY_COD:
        desc->strategy = phi_strategy_cot(PHI_COT_DRAFTS);
        desc->options = &m->cod.options;
        break;
    case PHI__CONFIG_STRATEGY_AOT:
        desc->strategy = phi_strategy_aot();
        desc->options = &m->aot.options;
        break;
    case PHI__CONFIG_STRATEGY_TOT:
        desc->strategy = phi_strategy_tot();
        desc->options = &m->tot.options;
        break;
    case PHI__CONFIG_STRATEGY_GOT:
        desc->strategy = phi_strategy_got();
        desc->options = &m->got.options;
        break;
    case PHI__CONFIG_STRATEGY_TRM:
        desc->strategy = phi_strategy_trm();
        desc->options = &m->trm.options;
        break;
    default: phi__config_machine_adaptive(m); break;
    }
}

/* ---- for other modules ---- */

PHI__FN phi_status phi__config_machine_make(phi__config_ground *ground, const char *name,
                                            phi_provider **out) {
    const phi_json *node = phi__config_refs_find(ground->config, "strategy", name);
    phi__config_machine *m =
        (phi__config_machine *)phi__arena_zero(ground->arena, sizeof(phi__config_machine));
    if (m == NULL || !phi__config_machine_take(ground->arena, node, m)) return PHI_NO_MEMORY;
    if (node == NULL) { /* a strategy's own name, with its defaults */
        phi__config_ref ref = phi__config_refs_parse(phi_str_of(name));
        const phi__config_choice *type = phi__config_take_choice(
            phi__config_fields_find(phi__config_tables_strategy(), PHI__LIT("type"), NULL)->choices,
            ref.kind == PHI__CONFIG_REF_LITERAL ? phi__str_trim(phi_str_of(name)) : ref.name);
        PHI_ASSERT(type != NULL); /* the check of the file found it */
        m->taken.type = type->value;
    }
    phi__config_machine_choose(m);
    m->desc.max_calls = m->taken.max_calls;
    m->desc.call_timeout_ms = m->taken.call_timeout_ms;
    m->provider = phi_strategy_provider(&m->desc);
    *out = &m->provider;
    return PHI_OK;
}
