// swift-tools-version: 6.2
import PackageDescription

/// Adding a program is adding its name here and in `Sources/dm/Programs.swift`, and a folder of that name under `Sources`.
let programs = [
  "dm-attach", "dm-chat", "dm-conversation", "dm-digest", "dm-doctor", "dm-edit", "dm-export", "dm-hub",
  "dm-import", "dm-list", "dm-mcp", "dm-preview", "dm-read", "dm-search", "dm-send", "dm-sync", "dm-tail", "dm-typing",
  "dm-usage", "dm-user",
]
/// The targets that single programs need.
let additions: [String: [Target.Dependency]] = [
  "dm-chat": ["DMDigest"], "dm-digest": ["DMDigest"], "dm-doctor": ["DMUpkeep"],
  "dm-export": ["DMJSON", "DMUpkeep"], "dm-hub": ["DMPostgres", "DMSync"], "dm-import": ["DMUpkeep"],
  "dm-mcp": ["DMAgent"], "dm-preview": ["DMPreview"],
  "dm-search": ["DMDigest"], "dm-send": ["DMPreview"], "dm-sync": ["DMPostgres", "DMSync"],
]

/// The library that has the code of a program, such as `ListProgram`: all of its folder but `main`.
func library(of program: String) -> String {
  let word = program.dropFirst("dm-".count)
  return word.prefix(1).uppercased() + word.dropFirst() + "Program"
}

/// A program is a library and a `main.swift`, so that `dm` has the same code of all of them.
let programTargets: [Target] = programs.flatMap { program -> [Target] in
  [
    .target(
      name: library(of: program),
      dependencies: ["DMCLI", "DMKit", "DMModel", "DMSystem"] + additions[program, default: []],
      path: "Sources/\(program)", exclude: ["main"]),
    .executableTarget(
      name: program, dependencies: ["CStart", "DMCLI", .byName(name: library(of: program))],
      path: "Sources/\(program)/main"),
  ]
}

let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

/// The targets in which the tests spend most of their time, and which are quickly compiled; `Tests/build` asks for it.
let optimizedInTests: Set<String> =
  Context.environment["DM_TESTS"] == nil ? [] : ["DMMedia", "DMSystem", "DMJSON", "JSONSupport"]
let optimized: [SwiftSetting] = [.unsafeFlags(["-O", "-assert-config", "Debug"])]

/// Whether only the programs are built, which have no tasks: their runtime would be in the file of all programs.
let withoutTasks = Context.environment["DM_PROGRAMS"] != nil

/// People with engines of their own, for `bench/crowd`.
let crowd: [Target] =
  Context.environment["DM_CROWD"] == nil
  ? []
  : [
    .executableTarget(
      name: "crowd", dependencies: ["DMKit", "DMModel", "DMPostgres", "DMStore", "DMSync", "DMSystem"],
      path: "bench/Crowd")
  ]

let package = Package(
  name: "dm",
  products: [
    .library(name: "DMKit", targets: ["DMKit"])
  ] + (["dm"] + programs).map { .executable(name: $0, targets: [$0]) },
  targets: [
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CPQ", providers: [.apt(["libpq-dev"])]),
    .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    /// A target of C, and not a system library: only its own file needs the headers of libxml2, whose folder has to be named.
    .target(name: "CXML2", cSettings: [.unsafeFlags(["-I/usr/include/libxml2"])]),
    .systemLibrary(name: "CSystem"),
    /// SHA-256 with the instructions of the processor.
    .target(name: "CSHA256"),
    /// What the runtime of Swift does slowly at each start.
    .target(name: "CStart"),
    /// The loops of a search by meaning.
    .target(name: "CVectors"),
    /// The values that programs and stores speak of. Depends on none of the others, and on the system for the time.
    .target(name: "DMModel", dependencies: ["CSystem"]),
    /// Files, locks, clocks, threads and processes: the calls to the system. The only target that imports Glibc.
    .target(name: "DMSystem", dependencies: ["DMModel", "CSHA256", "CSystem"]),
    /// The bytes of a line: JSON, base64, lines. Knows no message.
    .target(name: "DMJSON", dependencies: ["DMModel", "DMSystem"]),
    /// What a file is, and how it is cut, scaled and described. Knows no store and no message.
    .target(name: "DMMedia", dependencies: ["DMModel", "DMSystem", "DMJSON"]),
    /// The database and the contents of attachments: transactions, and what each user sees. The only target that imports CSQLite.
    .target(
      name: "DMStore", dependencies: ["DMModel", "DMSystem", "CSQLite", "CVectors"],
      resources: [.embedInCode("Migrations")]),
    /// What a user may do and follow, and the records that are read and printed. The library for other programs.
    .target(
      name: "DMKit", dependencies: ["DMModel", "DMSystem", "DMJSON", "DMMedia", "DMStore"],
      exclude: withoutTasks ? ["Tasks"] : []),
    /// What the owner of a store does to its files: check, back up, dump, restore, purge, repair.
    .target(name: "DMUpkeep", dependencies: ["DMKit", "DMModel", "DMSystem", "DMJSON", "DMStore"]),
    /// Previews of links: what may be fetched, and what a page says about itself. The only target that imports CCurl and CXML2.
    .target(name: "DMPreview", dependencies: ["DMModel", "DMSystem", "DMMedia", "CCurl", "CXML2"]),
    /// Options, streams, text and exit statuses: what all programs share.
    .target(name: "DMCLI", dependencies: ["DMKit", "DMModel", "DMSystem", "DMJSON"]),
    /// What messages are about: priorities, action items, decisions, questions and a summary.
    .target(
      name: "DMDigest", dependencies: ["DMKit", "DMModel", "DMSystem", "DMJSON"],
      resources: [.embedInCode("cues.txt"), .embedInCode("prompts")]),
    /// Agents as users: the Model Context Protocol, its tools and its resources.
    .target(name: "DMAgent", dependencies: ["DMDigest", "DMKit", "DMMedia", "DMModel", "DMSystem", "DMJSON"]),
    /// Carries between a linked store and its hub: what is pushed and pulled, and what the log of a hub does to a store.
    .target(name: "DMSync", dependencies: ["DMKit", "DMModel", "DMStore", "DMSystem", "DMJSON"]),
    /// A hub on PostgreSQL: its SQL, the connection to it, and who may join. The only target that imports CPQ.
    .target(
      name: "DMPostgres", dependencies: ["DMKit", "DMModel", "DMStore", "DMSync", "DMSystem", "DMJSON", "CPQ"],
      resources: [.embedInCode("Schema")]),
    /// What judges the lines that programs print, a hundred megabytes in a run.
    .testTarget(name: "JSONSupport"),
    /// What tests of several targets share. `StoreSupport` is for the tests that need a store.
    .testTarget(name: "TestSupport", dependencies: ["DMModel", "DMSystem", "DMJSON"]),
    .testTarget(
      name: "StoreSupport",
      dependencies: ["DMKit", "DMModel", "DMSystem", "DMJSON", "DMMedia", "DMStore", "DMUpkeep", "TestSupport"]),
    .testTarget(name: "DMModelTests", dependencies: ["DMModel", "TestSupport"]),
    .testTarget(name: "DMSystemTests", dependencies: ["DMModel", "DMSystem", "TestSupport"]),
    .testTarget(name: "DMJSONTests", dependencies: ["DMModel", "DMJSON", "TestSupport"]),
    .testTarget(name: "DMMediaTests", dependencies: ["DMModel", "DMSystem", "DMJSON", "DMMedia", "TestSupport"]),
    .testTarget(name: "DMPreviewTests", dependencies: ["DMModel", "DMPreview", "DMSystem", "TestSupport"]),
    .testTarget(name: "DMStoreTests", dependencies: ["DMModel", "DMStore", "StoreSupport", "TestSupport"]),
    /// With all records, those of hubs too.
    .testTarget(
      name: "DMKitTests",
      dependencies: ["DMDigest", "DMKit", "DMPostgres", "DMUpkeep", "StoreSupport", "TestSupport"]),
    .testTarget(name: "DMDigestTests", dependencies: ["DMDigest", "DMJSON", "DMKit", "DMModel", "TestSupport"]),
    .testTarget(name: "DMUpkeepTests", dependencies: ["DMKit", "DMUpkeep", "StoreSupport", "TestSupport"]),
    .testTarget(
      name: "HubTests",
      dependencies: [
        "DMKit", "DMMedia", "DMModel", "DMPostgres", "DMStore", "DMSync", "DMSystem", "DMUpkeep", "DMJSON",
        "StoreSupport", "TestSupport",
      ]),
    .testTarget(
      name: "ChatTests",
      dependencies: ["ChatProgram", "DMCLI", "DMKit", "DMModel", "DMSystem", "StoreSupport", "TestSupport"]),
    .testTarget(name: "DMCLITests", dependencies: ["DMCLI", "DMKit", "DMModel", "TestSupport"]),
    /// Runs `dm` by links with the names of the programs, as it is installed.
    .testTarget(name: "ToolTests", dependencies: ["DMKit", "DMCLI", "JSONSupport", "TestSupport", "dm"]),
    /// All programs in one file, which does what the name says by which it was started.
    .executableTarget(
      name: "dm",
      dependencies: ["CStart", "DMCLI", "DMKit", "DMSystem"] + programs.map { .byName(name: library(of: $0)) },
      resources: [.embedInCode("tour.sh")]),
  ] + programTargets + crowd
)

/// Code that runs once for each command of a person, and that has to be small rather than fast.
let small: Set<String> = Set(
  programs.map(library).filter { !["ListProgram", "ReadProgram", "SendProgram", "TailProgram"].contains($0) }
    + ["DMAgent", "DMDigest", "DMMedia", "DMPostgres", "DMPreview", "DMSync"])

for target in package.targets
where target.type != .system && !["CSHA256", "CStart", "CVectors", "CXML2"].contains(target.name) {
  target.swiftSettings =
    strict + (optimizedInTests.contains(target.name) ? optimized : [])
    + (small.contains(target.name) ? [.unsafeFlags(["-Osize"], .when(configuration: .release))] : [])
}
