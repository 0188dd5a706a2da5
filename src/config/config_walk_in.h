/* config_walk_in.h - the walk over tables and values: fields, paths, problems. */
#ifndef PHI_CONFIG_CONFIG_WALK_IN_H
#define PHI_CONFIG_CONFIG_WALK_IN_H

#include "base/base_in.h"
#include "config/config_in.h"
#include "config/config_own_in.h"
#include "config/config_tables_in.h"
#include "formats/formats_in.h"
#include "system/system_in.h"
#include "wire/wire_in.h"

PHI__FN bool phi__raws_add(phi_config *config, const phi_json *node, phi_str text);

PHI__FN void phi__raws_miss(const phi_config *config, const phi_json *node);

PHI__FN bool phi__raws_keep(phi_config *config, phi_str name, phi_str value);

#endif
