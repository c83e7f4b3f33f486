/* Functions of the system that the module Glibc of Swift does not have. */
#include <errno.h>
#include <fcntl.h>
#include <iconv.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/* The type of a file system (statfs(2), f_type); 0 on failure. */
static inline long dm_file_system(const char *path) {
  struct statfs s;
  return statfs(path, &s) == 0 ? (long)s.f_type : 0;
}

/* The time of clock_gettime(2) with CLOCK_REALTIME, in microseconds. */
static inline long long dm_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return time.tv_sec * 1000000LL + time.tv_nsec / 1000;
}

/* sem_timedwait(3) with the monotonic clock. Declared by glibc only with _GNU_SOURCE. */
extern int sem_clockwait(sem_t *, clockid_t, const struct timespec *);
static inline int dm_sem_wait_until(sem_t *semaphore, const struct timespec *deadline) {
  return sem_clockwait(semaphore, CLOCK_MONOTONIC, deadline);
}

/* The name by which this process was started, without folders. It does not need /proc. Declared by glibc only with
   _GNU_SOURCE. */
extern char *program_invocation_short_name;
static inline const char *dm_own_name(void) { return program_invocation_short_name; }

/* pipe2(2), with both ends closed on exec. Declared by glibc only with _GNU_SOURCE. */
extern int pipe2(int ends[2], int flags);
static inline int dm_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

/* syncfs(2). Declared by glibc only with _GNU_SOURCE. */
extern int syncfs(int descriptor);
static inline int dm_sync_file_system(int descriptor) { return syncfs(descriptor); }

/* sync_file_range(2), which waits until the range is written. Declared by glibc only with _GNU_SOURCE. */
extern int sync_file_range(int descriptor, off_t start, off_t count, unsigned int flags);
static inline int dm_write_back(int descriptor, off_t start, off_t count) {
  return sync_file_range(descriptor, start, count, 7 /* wait before, write, wait after */);
}

/* mkostemp(3), closed on exec. Declared by glibc only with _GNU_SOURCE. */
extern int mkostemp(char *template, int flags);
static inline int dm_temporary_file(char *template) { return mkostemp(template, O_CLOEXEC); }

/* pidfd_open(2): a descriptor that is readable once the process has ended, closed on exec. glibc has this function only
   since version 2.36. */
extern long syscall(long number, ...);
static inline int dm_process_descriptor(pid_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }

/* A file that only this process and its children see, for reading and writing: memfd_create(2), whose glibc wrapper
   exists since version 2.27. */
extern int memfd_create(const char *name, unsigned int flags);
static inline int dm_memory_file(const char *name) { return memfd_create(name, 1 /* MFD_CLOEXEC */); }

/* Sets the soft and the hard limit of a resource: setrlimit(2). */
static inline void dm_limit(int resource, unsigned long most) {
  struct rlimit limit = {most, most};
  /* This fails only if the hard limit is already lower, and a lower limit is enough. */
  setrlimit(resource, &limit);
}

/* Starts a program with limits, and, as a shell would, in a new process group and with default signals. Returns the
   process id, or -1 with errno(3) set; if the program cannot be run, the child reports that on its standard error.
   posix_spawn(3) is not used: it cannot set limits before the program runs, and its child would outlive a parent that is
   killed. */
extern void closefrom(int first);
static inline pid_t dm_start(const char *program, char *const arguments[], char *const environment[],
                             const char *folder, int input, int output, int errors,
                             unsigned long processor_seconds, unsigned long memory, unsigned long file_size) {
  pid_t parent = getpid();
  pid_t process = fork();
  if (process != 0) {
    /* Called by both processes, because either may run first. */
    if (process > 0) setpgid(process, process);
    return process;
  }
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, 0);
  dm_limit(RLIMIT_CPU, processor_seconds);
  /* RLIMIT_AS would not help: libraries, and the memory that malloc(3) reserves for each thread, take more address space
     than any image. RLIMIT_DATA includes private mappings since Linux 4.7; see setrlimit(2). */
  dm_limit(RLIMIT_DATA, memory);
  dm_limit(RLIMIT_FSIZE, file_size);
  dm_limit(RLIMIT_CORE, 0);
  /* Standard error first, because the child reports its failures there. */
  int said = dup2(errors, 2);
  if (said == 2 && dup2(input, 0) == 0 && dup2(output, 1) == 1 && chdir(folder) == 0) {
    /* Closes all other descriptors, also those that the parent process has left open. */
    closefrom(3);
    execve(program, arguments, environment);
  }
  if (said == 2) perror("cannot be run");
  _exit(127);
}

/* Starts a program that outlives this process: in a new session, in the folder /, with default signals, with /dev/null for
   its standard streams, and with a copy of `kept` as descriptor 3. Returns 0, or -1 with errno(3) set. The program does
   not become a child of this process, because this process would have to wait for the end of a child. */
static inline int dm_start_apart(const char *program, char *const arguments[], char *const environment[], int kept) {
  pid_t process = fork();
  if (process < 0) return -1;
  if (process > 0) {
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
    return status == 0 ? 0 : -1;
  }
  process = fork();
  if (process != 0) _exit(process < 0);
  setsid();
  umask(077);
  for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, 0);
  int nothing = open("/dev/null", O_RDWR);
  /* `kept` may be 3, and dup2(2) of a descriptor to itself would leave this descriptor closed on exec. */
  int copy = fcntl(kept, F_DUPFD, 10);
  if (nothing >= 0 && copy >= 0 && dup2(nothing, 0) == 0 && dup2(nothing, 1) == 1 && dup2(nothing, 2) == 2 &&
      dup2(copy, 3) == 3 && chdir("/") == 0) {
    closefrom(4);
    execve(program, arguments, environment);
  }
  _exit(127);
}

/* A terminal that is restored if this process crashes. */
struct dm_rescued {
  volatile sig_atomic_t is_armed;
  int screen;
  struct termios modes;
  char bytes[64];
  size_t count;
};

/* The only value of that type. A variable outside of functions would have no definition in a Swift module. */
static inline struct dm_rescued *dm_rescued_terminal(void) {
  static struct dm_rescued terminal;
  return &terminal;
}

/* Restores the terminal, and lets the signal end the process. Calls only functions of signal-safety(7). */
static inline void dm_restore_terminal(int number) {
  struct dm_rescued *terminal = dm_rescued_terminal();
  if (terminal->is_armed) {
    terminal->is_armed = 0;
    ssize_t written = write(terminal->screen, terminal->bytes, terminal->count);
    (void)written;
    tcsetattr(STDIN_FILENO, TCSANOW, &terminal->modes);
  }
  raise(number);
}

/* Until `dm_leave_terminal`: if a signal ends this process that the process does not read itself, such as SIGSEGV, writes
   `bytes` (at most 64) to the screen first, and sets the modes of standard input. */
static inline void dm_rescue_terminal(int screen, const struct termios *modes, const char *bytes, size_t count) {
  static char stack[16384];
  static const int signals[] = {SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS, SIGUSR1, SIGUSR2, SIGALRM,
                                SIGVTALRM, SIGPROF, SIGXCPU};
  struct dm_rescued *terminal = dm_rescued_terminal();
  terminal->screen = screen;
  terminal->modes = *modes;
  terminal->count = count < sizeof terminal->bytes ? count : sizeof terminal->bytes;
  for (size_t index = 0; index < terminal->count; index++) terminal->bytes[index] = bytes[index];
  terminal->is_armed = 1;
  /* A stack of its own, because the crash may be an overflow of the stack. */
  stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
  sigaltstack(&own, 0);
  struct sigaction action = {.sa_handler = dm_restore_terminal, .sa_flags = SA_ONSTACK | (int)SA_RESETHAND};
  for (size_t index = 0; index < sizeof signals / sizeof *signals; index++) {
    struct sigaction before;
    if (sigaction(signals[index], 0, &before) == 0 && before.sa_handler == SIG_DFL) sigaction(signals[index], &action, 0);
  }
}

static inline void dm_leave_terminal(void) { dm_rescued_terminal()->is_armed = 0; }
