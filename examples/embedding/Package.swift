// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "embedding",
  dependencies: [.package(name: "dm", path: "../..")],
  targets: ["bot", "catchup", "echo", "services", "watch"].map {
    .executableTarget(name: $0, dependencies: [.product(name: "DMKit", package: "dm")])
  }
)
