/* What the Glibc module of Swift leaves out. */
#include <fcntl.h>
#include <semaphore.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

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

/* prlimit(2) of another process, whose soft and hard limit it sets. Declared by glibc only with _GNU_SOURCE. */
extern int prlimit(pid_t process, int resource, const struct rlimit *new_limit, struct rlimit *old_limit);
static inline int dm_limit(pid_t process, int resource, unsigned long most) {
  struct rlimit limit = {most, most};
  return prlimit(process, resource, &limit, 0);
}

/* pidfd_open(2): a descriptor that is readable once the process has ended, closed on exec. glibc has it since 2.36. */
extern long syscall(long number, ...);
static inline int dm_process_descriptor(pid_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }

/* A child works in this folder, and has nothing open but its standard streams; see posix_spawn(3). Declared by glibc
   only with _DEFAULT_SOURCE, the latter since 2.34. */
extern int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *, const char *path);
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *, int from);
static inline int dm_confine(posix_spawn_file_actions_t *actions, const char *folder) {
  int fault = posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
  return fault ? fault : posix_spawn_file_actions_addchdir_np(actions, folder);
}
