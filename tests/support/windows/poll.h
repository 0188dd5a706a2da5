/* poll.h - see sys/socket.h. */
#include <sys/socket.h>
