/* What the Glibc module of Swift leaves out. */
#include <semaphore.h>
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

/* Takes, waits for, or gives up a lock on a byte that belongs to the open file rather than to the process (fcntl(2),
   "Open file description locks"). glibc declares its commands only with _GNU_SOURCE. */
#include <fcntl.h>
static inline int dm_byte_lock(int descriptor, short kind, int waits) {
  struct flock range = {.l_type = kind, .l_whence = 0, .l_start = 0, .l_len = 1};
  return fcntl(descriptor, waits ? 38 /* F_OFD_SETLKW */ : 37 /* F_OFD_SETLK */, &range);
}
