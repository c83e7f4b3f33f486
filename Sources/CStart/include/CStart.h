#pragma once

/// The arguments of the program, and how many there are.
char **_swift_stdlib_getUnsafeArgvArgc(int *argc);

/// Replaces the arguments.
void _swift_stdlib_overrideUnsafeArgvArgc(char **argv, int argc);
