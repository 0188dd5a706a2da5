/* test_poller_plain.c - the same tests where the driver AFD refuses: with WSAPoll. */
#define PHI_USE_POLL
#define POLLER_PLAIN true

#include "test_poller.c"
