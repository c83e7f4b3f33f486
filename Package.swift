// swift-tools-version: 6.2
import PackageDescription

/// Adding a program is adding its name here and a folder of that name under `Sources`.
let programs = [
  "dm-attach", "dm-conversation", "dm-doctor", "dm-edit", "dm-import", "dm-list", "dm-read", "dm-search", "dm-send",
  "dm-tail",
  "dm-typing",
  "dm-user",
]

let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

let package = Package(
  name: "dm",
  products: [.library(name: "DMKit", targets: ["DMKit"])]
    + programs.map { .executable(name: $0, targets: [$0]) },
  targets: [
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CSystem"),
    .target(
      name: "DMKit", dependencies: ["CSQLite", "CSystem"],
      resources: [.embedInCode("Store/Migrations")]),
    .target(name: "DMCLI", dependencies: ["DMKit"]),
    .testTarget(name: "DMKitTests", dependencies: ["DMKit"], exclude: ["Fixtures"]),
    .testTarget(name: "DMCLITests", dependencies: ["DMCLI", "DMKit"]),
    .testTarget(
      name: "ToolTests",
      dependencies: ["DMKit", "DMCLI"] + programs.map { .byName(name: $0) }),
  ] + programs.map { .executableTarget(name: $0, dependencies: ["DMCLI", "DMKit"]) }
)

for target in package.targets where target.type != .system {
  target.swiftSettings = strict
}
