import Foundation
import JSONSupport
import Testing

/// The commands that are run while their system calls fail, and the errors of each system call.
enum CallTable {
  /// A store with some of each kind of data, which no process has open, and a backup of it.
  struct Scene: Sendable {
    let f: ToolFixture
    let names: [String: String]

    init() throws {
      f = try ToolFixture()
      try f.addUsers("alice", "bob", "carol")
      try f.done("sh", ["-c", "head -c 30000 /dev/urandom >'\(f.directory)/data'"])
      let texts = ["one", "two @bob", "three"].map { JSON.line(["conversation": "bob", "text": $0]) }
      try f.done("dm-send", ["-q"], as: "alice", stdin: Input(lines: texts))
      try f.done("dm-send", ["-q", "bob", "--as-file", "--attach", f.directory + "/data"], as: "alice")
      try f.done("dm-conversation", ["create", "-q", "--title", "all", "bob", "carol"], as: "alice")
      try f.done("dm-send", ["-q", "+all", "hello"], as: "carol")
      try f.done("dm-send", ["-q", "+all", "gone"], as: "carol")
      try f.done("dm-edit", ["delete", "-q", "--for-everyone", "+all:-1"], as: "carol")
      let cursor = try f.done("dm-tail", ["--consumer", "c", "--cursor", "start"], as: "bob").records.last?["cursor"]
      try f.done("dm-doctor", ["backup", "-q", f.directory + "/day"])
      names = ["BASE": f.directory, "CURSOR": try #require(cursor?.string)]
    }
  }

  private static func said(_ count: Int) -> String { "SELECT count(*) = \(count) FROM message WHERE nonce LIKE 'n%'" }

  static let acts = [
    Act("dm-send", "bob", "--nonce", "n", "text", done: said(1)),
    Act(
      "dm-send",
      reading: (1...3).map { JSON.line(["conversation": "+all", "text": "\($0)", "nonce": "n\($0)"]) + "\n" }.joined(),
      done: said(3)),
    Act("dm-send", "bob", "--nonce", "n", "--as-file", "--attach", "BASE/data", done: said(1)),
    Act(
      "dm-send", "--consumer", "c", as: "bob",
      reading: JSON.line(["conversation": "alice", "text": "answer", "nonce": "n", "ack": "CURSOR"]) + "\n",
      done: said(1)),
    Act("dm-edit", "text", "bob:1", "other", done: "SELECT count(*) = 1 FROM message WHERE text = 'other'"),
    Act(
      "dm-edit", "delete", "--for-everyone", "bob:2", done: "SELECT count(*) = 0 FROM message WHERE text = 'two @bob'",
      again: [0, 66]),
    Act("dm-edit", "react", "👍", "bob:1", done: "SELECT count(*) = 1 FROM reaction"),
    Act("dm-edit", "pin", "bob:1", done: "SELECT count(*) = 1 FROM message_pin"),
    Act("dm-conversation", "create", "bob", done: "SELECT count(*) = 1 FROM conversation WHERE direct_low = 1"),
    Act("dm-conversation", "pin", "bob", done: "SELECT max(is_pinned) FROM participant"),
    Act(
      "dm-user", "add", "dave", as: "dave", done: "SELECT count(*) = 1 FROM user WHERE handle = 'dave'", again: [0, 73]),
    Act("dm-user", "block", "carol", done: "SELECT count(*) = 1 FROM block"),
    Act("dm-list", "--all"),
    Act("dm-tail", "bob", "-n", "all", "--peek"),
    Act("dm-tail", "--consumer", "c", "--ack", "CURSOR", as: "bob", done: "SELECT rev > 0 FROM consumer"),
    Act("dm-read", "alice", "--all", as: "bob", done: "SELECT count(*) = 1 FROM receipt WHERE user = 2"),
    Act("dm-search", "three"),
    Act(
      "dm-import",
      reading: JSON.line([
        "conversation": "+old", "sender": "carol", "text": "one", "nonce": "n", "created_at": "2020-01-01T10:00:00Z",
      ]) + "\n", done: said(1)),
    Act("dm-attach", "--as-file", "BASE/data", done: "SELECT count(*) >= 1 FROM attachment WHERE message IS NULL"),
    Act("dm-attach", "--get", "bob:4", "-o", "DIR/got", "--force", "-q"),
    Act("dm-typing", "bob", "--on"),
    Act("dm-doctor", "check", "--deep"),
    Act("dm-doctor", "backup", "-q", "DIR/day"),
    Act("dm-doctor", "--store", "DIR/new", "restore", "-q", "BASE/day", again: [0, 73]),
    Act("dm-doctor", "purge", "-q", done: "SELECT 1"),
    Act("dm-doctor", "repair", "-q", done: "SELECT 1"),
    Act("dm-doctor", "dump"),
  ]

  /// For each system call, the errors that its manual lists and that can occur with a store.
  static let errors: [String: [String]] = {
    let rows: [(calls: String, errors: String)] = [
      ("openat", "EACCES EMFILE ENFILE ENOMEM ENOSPC EIO EINTR"), ("read pread64 getdents64", "EIO EINTR"),
      ("write", "EIO ENOSPC EINTR"), ("pwrite64", "EIO ENOSPC EDQUOT"), ("fdatasync fsync syncfs", "EIO ENOSPC"),
      ("ftruncate fallocate", "EIO ENOSPC"), ("copy_file_range sendfile", "EIO ENOSPC"),
      ("unlink unlinkat rename renameat link linkat mkdir mkdirat rmdir", "EACCES EIO ENOSPC"),
      ("chmod fchmod utimensat", "EACCES EIO"), ("fcntl", "ENOLCK EIO EINTR EACCES"), ("flock", "ENOLCK EINTR"),
      ("access faccessat faccessat2 readlink stat lstat newfstatat statx statfs", "EACCES EIO ENOMEM"),
      ("fstat fstatfs lseek ioctl", "EIO"), ("mmap mprotect", "ENOMEM"), ("getrandom", "EINTR"),
      ("poll ppoll", "EINTR ENOMEM"), ("pipe2 dup dup2 dup3 socket", "EMFILE"), ("connect", "EACCES"),
      ("clone clone3 vfork", "EAGAIN ENOMEM"), ("wait4 waitid", "EINTR"), ("getcwd", "ENOMEM"),
    ]
    return Dictionary(
      uniqueKeysWithValues: rows.flatMap { row in
        row.calls.split(separator: " ").map { ($0.description, row.errors.split(separator: " ").map(String.init)) }
      })
  }()

  /// Why no fault is injected into a system call that a program makes.
  static func reason(not call: String) -> String {
    switch call {
    case "exit_group", "exit", "execve", "rt_sigreturn": "it has no errno that a program could meet"
    case "brk": "Linux answers a failure with the old end of the heap, which strace cannot inject"
    case "close", "munmap", "madvise": "Linux has done it whatever it answers"
    case "futex", "set_robust_list", "set_tid_address", "rseq", "arch_prctl", "gettid", "getpid", "getuid", "geteuid",
      "getgid", "getegid", "rt_sigaction", "rt_sigprocmask", "prlimit64", "sched_getaffinity", "sched_yield",
      "sigaltstack", "clock_nanosleep", "uname", "umask", "sysinfo", "getpgrp", "getppid", "getrlimit", "clock_gettime":
      "it cannot fail with these arguments"
    default: "no errno of it is in the table"
    }
  }
}
