/* test_process_plain.c - the same tests where the system has no pidfd, no way to change a child's
   directory and none to close its descriptors: a copy of the module is built here without them. */
#define PHI__PROCESS_POLL
#define PHI__SPAWN_PLAIN
#define phi__process_new phi__plain_process_new
#define phi__process_resume phi__plain_process_resume
#define phi__process_free phi__plain_process_free
#define phi__child_start phi__plain_child_start
#define phi__child_exit_fd phi__plain_child_exit_fd

#include "system/process.c"
#include "system/process_posix.c"

#include "test_process.c"
