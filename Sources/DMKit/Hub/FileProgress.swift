internal import DMJSON
package import DMModel
internal import DMSystem

/// How many bytes of a file were uploaded or fetched so far.
///
/// A process writes this to the folder `live`, where other processes read it.
package struct FileProgress: Equatable {
  package let file: Identifier
  package let doneBytes: Int

  package init(file: Identifier, doneBytes: Int) {
    self.file = file
    self.doneBytes = doneBytes
  }

  package init?(path: String) {
    guard let bytes = readFile(path, limit: 256),
      case .success(let object) = Result(catching: { try JSONReader.object(bytes[...]) }),
      let file = object.text("file").flatMap({ Identifier($0) }), let doneBytes = object.integer("done_bytes")
    else { return nil }
    self.init(file: file, doneBytes: doneBytes)
  }

  package func write(to path: String) throws {
    var json = JSONWriter()
    json.object { json in
      json.member("file", file)
      json.member("done_bytes", doneBytes)
    }
    try replaceFile(path, with: json.bytes, isDurable: false)
  }
}
