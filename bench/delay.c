// A slow network: accepts connections on a port of this machine, and passes each byte on to another port after a time.
//
//   delay PORT TO MILLISECONDS
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { slots = 4096 };

// What has come from one side, and when the other side gets it.
struct chunk { double due; ssize_t length; char bytes[4096]; };
struct direction { int from, to; bool is_open; unsigned first, count; struct chunk *chunks; };

static double delay;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static struct sockaddr_in address(const char *port) {
  return (struct sockaddr_in){
      .sin_family = AF_INET, .sin_port = htons(atoi(port)), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static void take(struct direction *d) {
  struct chunk *chunk = &d->chunks[(d->first + d->count) % slots];
  chunk->length = read(d->from, chunk->bytes, sizeof chunk->bytes);
  chunk->due = now() + delay;
  if (chunk->length <= 0) d->is_open = false;
  else d->count++;
}

static void give(struct direction *d) {
  for (; d->count && d->chunks[d->first].due <= now(); d->first = (d->first + 1) % slots, d->count--) {
    struct chunk *chunk = &d->chunks[d->first];
    for (ssize_t done = 0, n; done < chunk->length; done += n)
      if ((n = write(d->to, chunk->bytes + done, chunk->length - done)) < 0) exit(0);
  }
  if (!d->is_open && !d->count) exit(0);
}

static void pass(int near, int far) {
  struct direction ways[] = {{near, far, true, 0, 0, NULL}, {far, near, true, 0, 0, NULL}};
  int yes = 1;
  for (int i = 0; i < 2; i++) {
    setsockopt(ways[i].to, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (!(ways[i].chunks = calloc(slots, sizeof(struct chunk)))) err(1, "calloc");
  }
  for (;;) {
    struct pollfd polled[2];
    double wait = -1;
    for (int i = 0; i < 2; i++) {
      give(&ways[i]);
      polled[i] = (struct pollfd){ways[i].is_open && ways[i].count < slots ? ways[i].from : -1, POLLIN, 0};
      if (!ways[i].count) continue;
      double left = ways[i].chunks[ways[i].first].due - now();
      if (left < 0) left = 0;
      if (wait < 0 || left < wait) wait = left;
    }
    struct timespec limit = {(time_t)(wait / 1e3), (long)((wait - (long)(wait / 1e3) * 1e3) * 1e6)};
    if (ppoll(polled, 2, wait < 0 ? NULL : &limit, NULL) < 0) err(1, "ppoll");
    for (int i = 0; i < 2; i++) if (polled[i].revents) take(&ways[i]);
  }
}

int main(int argc, char **argv) {
  if (argc != 4) errx(64, "delay PORT TO MILLISECONDS");
  struct sockaddr_in here = address(argv[1]), there = address(argv[2]);
  delay = atof(argv[3]);
  signal(SIGCHLD, SIG_IGN);
  int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (bind(listener, (struct sockaddr *)&here, sizeof here) || listen(listener, 16)) err(1, "port %s", argv[1]);
  for (int near; (near = accept(listener, NULL, NULL)) >= 0;) {
    if (fork() == 0) {
      // A connection ends with the program.
      prctl(PR_SET_PDEATHSIG, SIGTERM);
      close(listener);
      int far = socket(AF_INET, SOCK_STREAM, 0);
      if (connect(far, (struct sockaddr *)&there, sizeof there)) err(1, "port %s", argv[2]);
      pass(near, far);
    }
    close(near);
  }
  err(1, "accept");
}
