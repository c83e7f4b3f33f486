import Foundation
import Testing

@testable import TestSupport

/// Runs the scripts of Tests/t, which have pipelines as users write them.
@Suite struct ScriptTests {
  static let scripts: [String] = {
    do {
      let files = try FileManager.default.contentsOfDirectory(atPath: "\(repository)/Tests/t")
      return files.filter { $0.hasSuffix(".t") }.sorted()
    } catch {
      print("skipped: the scripts of Tests/t, which is absent")
      return []
    }
  }()

  @Test(arguments: scripts)
  func `each test script passes, and its JSON output conforms to the schemas`(script: String) throws {
    let f = try ToolFixture()
    // The script has a store of its own.
    f.set("DM_STORE", nil)
    let copies = try OutputCopies(f)
    let outcome = try f.run("sh", ["\(repository)/Tests/t/\(script)"], seconds: 600)
    #expect(outcome.status == .exit(0), "\(outcome.stdout)\(outcome.stderr)")
    #expect(!outcome.stdout.split(separator: "\n").contains { $0.hasPrefix("not ok") }, "\(outcome.stdout)")
    #expect(outcome.stdout.contains("1.."), "the script prints no plan (1..N): \(outcome.stdout)")
    var checked = 0
    for copy in try copies.all() where Contract.isJSON(copy.program, copy.arguments) {
      // A program that was killed, or whose reader left, may have ended within a line.
      let lines = copy.output[..<(copy.output.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0)]
      try Contract.check(Array(lines), of: copy.program, at: #_sourceLocation)
      checked += 1
    }
    let source = try String(contentsOfFile: "\(repository)/Tests/t/\(script)", encoding: .utf8)
    // What a program shows in a terminal is not JSON, and a release of stand-ins runs no program.
    let printsNoJSON = ["tmux", "windows.sh", "stand-ins"].contains { source.contains($0) }
    #expect(checked > 0 || printsNoJSON, "no program printed JSON")
  }
}

/// Copies of what the programs of a fixture write to standard output.
///
/// A library that the dynamic linker loads before all others (ld.so(8), LD_PRELOAD) copies what write(2) has written,
/// unless it went to a terminal.
struct OutputCopies {
  struct Copy {
    let program: String
    let arguments: [String]
    let output: [UInt8]
  }

  private let folder: String

  private static let source = """
    #define _GNU_SOURCE
    #include <errno.h>
    #include <fcntl.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/syscall.h>
    #include <unistd.h>

    static void append(const char *path, const void *bytes, size_t count) {
      int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
      if (file < 0) return;
      syscall(SYS_write, file, bytes, count);
      close(file);
    }

    static void copy(const void *bytes, size_t count) {
      static char path[4096];
      static pid_t owner;
      char *folder = getenv("DM_COPIES");
      if (!folder || strncmp(program_invocation_short_name, "dm-", 3) || isatty(1)) return;
      if (owner != getpid()) {
        char words[65536];
        int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
        ssize_t length = file < 0 ? 0 : read(file, words, sizeof words);
        if (file >= 0) close(file);
        // Process ids are reused, so they cannot name the files.
        snprintf(path, sizeof path, "%s/%s.XXXXXX", folder, program_invocation_short_name);
        file = mkostemp(path, O_CLOEXEC);
        if (file < 0) return;
        close(file);
        owner = getpid();
        char names[4200];
        snprintf(names, sizeof names, "%s.words", path);
        append(names, words, length > 0 ? length : 0);
      }
      append(path, bytes, count);
    }

    ssize_t write(int file, const void *bytes, size_t count) {
      ssize_t done = syscall(SYS_write, file, bytes, count);
      int error = errno;
      if (file == 1 && done > 0) copy(bytes, done);
      errno = error;
      return done;
    }
    """

  /// From now on, copies the output of all programs that the fixture starts.
  init(_ f: ToolFixture) throws {
    folder = f.directory + "/copies"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let (source, library) = (f.directory + "/copies.c", f.directory + "/copies.so")
    try Self.source.write(toFile: source, atomically: true, encoding: .utf8)
    try f.done("cc", ["-shared", "-fPIC", "-O", "-o", library, source])
    f.set("LD_PRELOAD", library)
    f.set("DM_COPIES", folder)
  }

  func all() throws -> [Copy] {
    func bytes(_ name: String) throws -> [UInt8] {
      Array(try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)")))
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
    // A program that was killed during its first write has no file of arguments.
    return try names.filter { names.contains($0 + ".words") }.map { name in
      let words = try bytes(name + ".words").split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
      return Copy(
        program: String(name.prefix { $0 != "." }), arguments: Array(words.dropFirst()), output: try bytes(name))
    }
  }
}
