/* What the Glibc module of Swift leaves out. */
#include <fcntl.h>
#include <semaphore.h>
#include <sys/signalfd.h>
#include <sys/statfs.h>
#include <time.h>

/* The kind of a file system, as statfs(2) numbers them; 0 when it cannot be had. */
static inline long dm_file_system(const char *path) {
  struct statfs s;
  return statfs(path, &s) == 0 ? (long)s.f_type : 0;
}

/* sem_timedwait(3) with the clock that nobody sets. Declared by glibc only with _GNU_SOURCE. */
extern int sem_clockwait(sem_t *, clockid_t, const struct timespec *);
static inline int dm_sem_wait_until(sem_t *semaphore, const struct timespec *deadline) {
  return sem_clockwait(semaphore, CLOCK_MONOTONIC, deadline);
}

/* pipe2(2), both ends closed on exec. Declared by glibc only with _GNU_SOURCE. */
extern int pipe2(int ends[2], int flags);
static inline int dm_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

/* mkostemp(3), closed on exec. Declared by glibc only with _GNU_SOURCE. */
extern int mkostemp(char *template, int flags);
static inline int dm_temporary_file(char *template) { return mkostemp(template, O_CLOEXEC); }
