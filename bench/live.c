// The measuring program of bench/live, and the baseline for dm: a minimal writer and a minimal follower with SQLite and
// inotify. The texts are "ping 0", "ping 1" and so on; a measured program must answer or print each of them once and in
// order, or the measurement fails.
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { warm_up = 50, patience = 60 };

static void check(bool is_good, const char *what) {
  if (!is_good) err(1, "%s", what);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

static struct timespec timespec(double seconds) {
  if (seconds < 0) seconds = 0;
  return (struct timespec){(time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9)};
}

static sqlite3 *database;

static void done(int status) {
  if (status != SQLITE_OK && status != SQLITE_DONE) errx(1, "%s", sqlite3_errmsg(database));
}

static void open_database(const char *path) {
  done(sqlite3_open(path, &database));
  done(sqlite3_busy_timeout(database, 5000));
  const char *schema = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE IF NOT EXISTS change"
                       "(rev INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, text TEXT NOT NULL)";
  done(sqlite3_exec(database, schema, NULL, NULL, NULL));
}

static sqlite3_stmt *prepare(const char *sql) {
  sqlite3_stmt *statement;
  done(sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL));
  return statement;
}

static void step(sqlite3_stmt *statement) {
  done(sqlite3_step(statement));
  done(sqlite3_reset(statement));
}

// Touches a file, and creates it if it does not exist.
static void ring(int directory, const char *name) {
  if (utimensat(directory, name, NULL, 0) == 0) return;
  int file = openat(directory, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  check(file >= 0, name);
  close(file);
}

static void run_writer(const char *path, const char *bell) {
  open_database(path);
  ring(AT_FDCWD, bell);
  sqlite3_stmt *begin = prepare("BEGIN IMMEDIATE"), *commit = prepare("COMMIT");
  sqlite3_stmt *insert = prepare("INSERT INTO change (at, text) VALUES (?, ?)");
  char *line = NULL;
  size_t capacity = 0;
  for (ssize_t length; (length = getline(&line, &capacity, stdin)) > 0;) {
    step(begin);
    done(sqlite3_bind_int64(insert, 1, time(NULL)));
    done(sqlite3_bind_text(insert, 2, line, length - 1, SQLITE_STATIC));
    step(insert);
    step(commit);
    ring(AT_FDCWD, bell);
    check(write(STDOUT_FILENO, line, length) == length, "write");
  }
}

static void run_poller(const char *path, const char *bell) {
  int watch = inotify_init1(IN_CLOEXEC);
  check(inotify_add_watch(watch, bell, IN_ATTRIB) >= 0, bell);
  open_database(path);
  sqlite3_stmt *newest = prepare("SELECT max(rev) FROM change");
  sqlite3_step(newest);
  sqlite3_int64 last = sqlite3_column_int64(newest, 0);
  done(sqlite3_reset(newest));
  sqlite3_stmt *select = prepare("SELECT rev, text FROM change WHERE rev > ? ORDER BY rev LIMIT 100");
  char text[100 * 100];
  int length = snprintf(text, sizeof text, "ready\n");
  for (;;) {
    check(write(STDOUT_FILENO, text, length) == length, "write");
    done(sqlite3_bind_int64(select, 1, last));
    for (length = 0; sqlite3_step(select) == SQLITE_ROW; last = sqlite3_column_int64(select, 0))
      length += snprintf(text + length, sizeof text - length, "%.90s\n", (const char *)sqlite3_column_text(select, 1));
    done(sqlite3_reset(select));
    char events[4096];
    if (length == 0) check(read(watch, events, sizeof events) > 0, "read");
  }
}

// A measured program.
struct program {
  pid_t pid;
  int in, out;
  long heard;     // The number of pings it printed; -1 until its first line, which means that it is ready.
  double *times;  // The time when each was printed, if not NULL.
  size_t length;
  char text[1 << 16];
};

static struct program *followers, *writer;
static int size;  // The number of followers; the writer comes after the last of them.

static void start(struct program *p, char **argv, long heard) {
  int in[2], out[2];
  check(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0, "pipe");
  p->pid = fork();
  check(p->pid >= 0, "fork");
  if (p->pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    signal(SIGPIPE, SIG_DFL);
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    execvp(*argv, argv);
    check(false, *argv);
  }
  close(in[0]), close(out[1]);
  p->in = in[1], p->out = out[0], p->heard = heard;
}

static void hear(struct program *p, const char *line) {
  const char *ping = strstr(line, "ping ");
  bool is_message = line[0] != '{' || strncmp(line, "{\"type\":\"message\",", 18) == 0;
  if (strncmp(line, "{\"type\":\"error\",", 16) == 0) errx(1, "%s", line);
  if (p->heard < 0) p->heard = 0, is_message = false;
  if (!ping || !is_message) return;
  if (atol(ping + 5) != p->heard) errx(1, "a line is missing, doubled or out of order");
  if (p->times) p->times[p->heard] = now();
  p->heard++;
}

static void take(struct program *p) {
  if (p->length == sizeof p->text) errx(1, "a line is too long");
  ssize_t taken = read(p->out, p->text + p->length, sizeof p->text - p->length);
  int status = 0;
  if (taken <= 0) waitpid(p->pid, &status, 0);
  if (taken <= 0) errx(1, "process %d ended: status %d, signal %d", p->pid, WEXITSTATUS(status), WTERMSIG(status));
  p->length += taken;
  char *line = p->text, *end;
  while ((end = memchr(line, '\n', p->text + p->length - line))) {
    *end = 0;
    hear(p, line);
    line = end + 1;
  }
  p->length -= line - p->text;
  memmove(p->text, line, p->length);
}

// Reads the output of all until each has printed that number of pings and returns true, or returns false at the deadline.
static bool drain(struct program *programs, int count, long goal, double until) {
  struct pollfd polled[count + 1];
  for (;;) {
    int missing = 0;
    for (int i = 0; i < count; i++) {
      missing += programs[i].heard < goal;
      polled[i] = (struct pollfd){.fd = programs[i].out, .events = POLLIN};
    }
    if (missing == 0) return true;
    double left = until - now();
    struct timespec limit = timespec(left);
    check(ppoll(polled, count, &limit, NULL) >= 0, "poll");
    for (int i = 0; i < count; i++)
      if (polled[i].revents) take(&programs[i]);
    if (left <= 0) return false;
  }
}

static void start_all(char **follower_argv, char **writer_argv) {
  followers = calloc(size + 1, sizeof *followers);
  writer = followers + size;
  for (int i = 0; i < size; i++) start(&followers[i], follower_argv, -1);
  if (!drain(followers, size, 0, now() + patience)) errx(1, "a follower does not get ready");
  if (writer_argv) start(writer, writer_argv, 0);
}

static void end_all(void) {
  int status;
  if (writer->pid) {
    close(writer->in);
    if (waitpid(writer->pid, &status, 0) < 0 || status != 0) errx(1, "the writer failed");
  }
  for (int i = 0; i < size; i++) kill(followers[i].pid, SIGTERM);
  for (int i = 0; i < size; i++) waitpid(followers[i].pid, NULL, 0);
}

// A failed write is not checked: if the writer has ended, its missing output is noticed.
static void say(long number) { dprintf(writer->in, "ping %ld\n", number); }

static int ascending(const void *a, const void *b) {
  return *(const double *)a > *(const double *)b ? 1 : -1;
}

static void pair(long count, double gap, char **writer_argv, char **follower_argv) {
  long total = warm_up + count;
  double *took = calloc(total, sizeof *took), *printed = calloc(total, sizeof *printed);
  size = 1;
  start_all(follower_argv, writer_argv);
  followers->times = printed;
  for (long i = 0; i < total; i++) {
    drain(followers, 2, LONG_MAX, now() + gap);
    took[i] = -now();
    say(i);
  }
  if (!drain(followers, 2, total, now() + patience)) errx(1, "something was not answered or not followed");
  end_all();
  for (long i = 0; i < total; i++) took[i] += printed[i];
  qsort(took + warm_up, count, sizeof *took, ascending);
  printf("%.3f %.3f\n", took[warm_up + count / 2] * 1e3, took[warm_up + count * 99 / 100] * 1e3);
}

static void *drain_followers(void *goal) {
  while (!drain(followers, size, *(long *)goal, now() + patience)) continue;
  return NULL;
}

// A separate thread reads the followers, so that reading them does not delay the next line of the writer.
static void crowd(long count, char **writer_argv, char **follower_argv) {
  start_all(follower_argv, writer_argv);
  pthread_t thread;
  check(pthread_create(&thread, NULL, drain_followers, &count) == 0, "thread");
  double began = now();
  for (long i = 0; i < count; i++) {
    say(i);
    if (!drain(writer, 1, i + 1, now() + patience)) errx(1, "the writer does not answer");
  }
  double ended = now();
  struct timespec limit = timespec(time(NULL) + patience);
  if (pthread_timedjoin_np(thread, NULL, &limit) != 0) errx(1, "a follower missed something");
  end_all();
  printf("%.3f\n", ended - began);
}

static void idle(double seconds, char **argv) {
  start_all(argv, NULL);
  drain(followers, size, LONG_MAX, now() + seconds);
  end_all();
  struct rusage usage;
  getrusage(RUSAGE_CHILDREN, &usage);
  struct timeval user = usage.ru_utime, system = usage.ru_stime;
  printf("%.3f\n", user.tv_sec + system.tv_sec + (user.tv_usec + system.tv_usec) / 1e6);
}

static void touch(const char *path, double rate, double seconds, char **names) {
  int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  check(directory >= 0, path);
  char **name = names;
  for (double due = now(), end = due + seconds; due < end; due += 1 / rate) {
    struct timespec pause = timespec(due - now());
    if (due > now()) nanosleep(&pause, NULL);
    ring(directory, *name);
    if (!*++name) name = names;
  }
}

int main(int argc, char **argv) {
  signal(SIGPIPE, SIG_IGN);  // A program that ended is reported with its status instead of by a signal.
  char **commands[2] = {NULL, NULL};
  int found = 0, plain = argc;
  for (int i = 1; i < argc && found < 2; i++) {
    if (strcmp(argv[i], "--") != 0) continue;
    argv[i] = NULL;
    if (found == 0) plain = i;
    commands[found++] = argv + i + 1;
  }
  const char *verb = plain > 3 ? argv[1] : "";
#define IS(name, operands, programs) (strcmp(verb, name) == 0 && plain >= 2 + operands && found == programs)
  if (IS("crowd", 2, 2) || IS("idle", 2, 1)) size = atoi(argv[2]);
  if (IS("writer", 2, 0)) run_writer(argv[2], argv[3]);
  else if (IS("poller", 2, 0)) run_poller(argv[2], argv[3]);
  else if (IS("pair", 2, 2)) pair(atol(argv[2]), atof(argv[3]) / 1e6, commands[0], commands[1]);
  else if (IS("crowd", 2, 2)) crowd(atol(argv[3]), commands[0], commands[1]);
  else if (IS("idle", 2, 1)) idle(atof(argv[3]), commands[0]);
  else if (IS("touch", 4, 0)) touch(argv[2], atof(argv[3]), atof(argv[4]), argv + 5);
  else errx(1, "writer|poller DATABASE BELL, touch FOLDER RATE SECONDS NAME..., idle FOLLOWERS SECONDS -- FOLLOWER, "
               "pair COUNT GAP_US -- WRITER -- FOLLOWER, crowd FOLLOWERS COUNT -- WRITER -- FOLLOWER");
}
