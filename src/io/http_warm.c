/* http_warm.c - loads the certificate store at a time of the caller's choosing.

   libcurl loads it in the first TLS handshake, 20 ms and more in one piece, and then keeps it with
   the multi handle. So a handshake is begun here with a loopback port of our own that never
   answers: the store is loaded before the first bytes leave, and the transfer is thrown away. */
#include "io/http_curl_in.h"

#if !defined(PHI_NO_CURL)

#include <stdio.h>

#define PHI__HTTP_WARM_TURNS 8 /* of curl's state machine; three are enough with 7.88 */

/* curl connects, and then says hello. */
static bool phi__http_warm_say_hello(phi__http *http, phi__http_transfer *t,
                                     curl_socket_t listener) {
    curl_socket_t peer = CURL_SOCKET_BAD;
    bool heard = false;
    int turn;
    for (turn = 0; turn < PHI__HTTP_WARM_TURNS && !heard; turn++) {
        if (t->fd == CURL_SOCKET_BAD)
            phi__http_drive_act(http, CURL_SOCKET_TIMEOUT, 0);
        else
            phi__http_drive_act(http, t->fd, CURL_CSELECT_OUT);
        heard = phi__http_heard(listener, &peer);
    }
    phi__http_close(peer);
    return heard;
}

PHI__FN void phi__http_warm_load_ca(phi__http *http) {
    char url[48];
    const char *words;
    phi__http_transfer *t;
    int port = 0;
    curl_socket_t listener;
    if (!http->ca_cache || http->ca_loaded) return;
    listener = phi__http_listen(&port);
    if (listener == CURL_SOCKET_BAD) return; /* then the first handshake loads it */
    (void)snprintf(url, sizeof url, "https://127.0.0.1:%d/", port);
    t = phi__http_transfer_new(http);
    if (t != NULL) {
        t->url = (char *)phi__alloc(http->memory, sizeof url);
        if (t->url != NULL) {
            t->url_bytes = sizeof url;
            memcpy(t->url, url, sizeof url);
            if (phi__http_transfer_begin(t, &words) == PHI_OK &&
                curl_easy_setopt(t->easy, CURLOPT_NOPROXY, "*") == CURLE_OK)
                http->ca_loaded = phi__http_warm_say_hello(http, t, listener);
        }
        phi__http_transfer_free(t);
    }
    phi__http_close(listener);
}

#endif
