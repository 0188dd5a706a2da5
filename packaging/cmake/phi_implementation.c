/* The implementation of phi.h and phi_tools.h, which package managers compile once. */
#define PHI_IMPLEMENTATION
#include "phi_tools.h"
