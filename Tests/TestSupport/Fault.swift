@testable import DMJSON
@testable import DMModel

/// The `DMError` that `body` throws; nil if it throws none.
///
/// Other errors are rethrown.
func fault<T>(_ body: () throws -> T) throws -> DMError? {
  do {
    _ = try body()
    return nil
  } catch let error as DMError {
    return error
  }
}

/// The code of the `DMError` that `body` throws.
func code<T>(_ body: () throws -> T) throws -> DMError.Code? { try fault(body)?.code }

/// Reads a text as a JSON object.
func object(_ json: String) throws -> JSONObject { try JSONReader.object(Array(json.utf8)[...]) }

func object(_ bytes: [UInt8]) throws -> JSONObject { try JSONReader.object(bytes[...]) }
