import FoundationEssentials

/// The root of the repository.
let repository = URL(filePath: #filePath).appending(path: "../../..").standardized.path

/// The content of a file of `Tests/Fixtures`.
func fixture(_ name: String) throws -> [UInt8] {
  Array(try Data(contentsOf: URL(filePath: "\(repository)/Tests/Fixtures/\(name)")))
}
