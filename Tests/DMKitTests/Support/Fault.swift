import DMWire
import FoundationEssentials
import Testing

@testable import DMKit

/// The error that `body` ends with, when it is one of ours; any other is thrown on.
func fault<T>(_ body: () throws -> T) throws -> DMError? {
  do {
    _ = try body()
    return nil
  } catch let error as DMError {
    return error
  }
}

/// Its code alone.
func code<T>(_ body: () throws -> T) throws -> DMError.Code? { try fault(body)?.code }

/// A file beside the tests.
func fixture(_ name: String, from file: String = #filePath) throws -> [UInt8] {
  var path = file[...]
  // The sources of the tests may be nested; their fixtures stand at the top.
  while !path.hasSuffix("/DMKitTests") {
    path = path[..<(try #require(path.lastIndex(of: "/")))]
  }
  return Array(try Data(contentsOf: URL(filePath: "\(path)/Fixtures/\(name)")))
}

func object(_ json: String) throws -> JSONObject { try JSONReader.object(Array(json.utf8)[...]) }

func object(_ bytes: [UInt8]) throws -> JSONObject { try JSONReader.object(bytes[...]) }
