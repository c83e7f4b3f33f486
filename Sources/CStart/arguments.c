// The runtime of Swift looks for the arguments of a program in its memory: each start opens and reads /proc/self/maps, which takes
// a twentieth of the start (https://github.com/swiftlang/swift/blob/main/stdlib/public/stubs/CommandLine.cpp). These two functions
// take the place of that file of the runtime. The C library passes the arguments to each constructor (glibc,
// csu/libc-start.c).
#include "CStart.h"

static char **arguments;
static int count;

__attribute__((constructor)) static void keep(int argc, char **argv) {
  arguments = argv;
  count = argc;
}

char **_swift_stdlib_getUnsafeArgvArgc(int *argc) {
  *argc = count;
  return arguments;
}

void _swift_stdlib_overrideUnsafeArgvArgc(char **argv, int argc) { keep(argc, argv); }
