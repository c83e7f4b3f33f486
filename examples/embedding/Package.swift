// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "watch",
  dependencies: [.package(name: "dm", path: "../..")],
  targets: [
    .executableTarget(name: "watch", dependencies: [.product(name: "DMKit", package: "dm")])
  ]
)
