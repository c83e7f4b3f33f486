internal import DMKit
package import DMModel
internal import DMStore
package import DMSync
internal import DMSystem

/// A connection to a hub, for the transfer of files.
package final class PQFileLink: FileLink {
  private let opening: ((PQConnection.Settings) throws -> PQGreeting) throws -> PQGreeting
  private var connection: PQConnection?

  /// Makes a link that reads the store's credentials again for each connection, and follows a hub that was moved.
  package init(_ location: StoreLocation) { opening = Relocation(location).opened }

  /// Makes a link that always connects with the given settings.
  init(_ settings: PQConnection.Settings) { opening = { connect in try connect(settings) } }

  package func open() throws -> HubHello {
    close()
    let opened = try opening { try PQGreeting.first(of: $0, label: hostName()) }
    connection = opened.connection
    return opened.hello
  }

  package func close() { connection = nil }

  private func run(_ statements: [PQConnection.Statement]) throws {
    guard let connection else { throw HubFault.lost("the connection is closed") }
    try connection.run(statements)
  }

  package func upload(_ file: Identifier, size: Int) throws -> FileAnswer {
    var answer = FileAnswer()
    try run([
      PQConnection.Statement(
        "SELECT chunks, coalesce(is_whole, false), error, retry_at FROM dm1.upload($1::uuid, $2::bigint)",
        [file.description, String(size)]
      ) { row in
        answer = FileAnswer(
          chunks: Int(clamping: row.optionalInteger(0) ?? 0), isWhole: try row.flag(1), fault: row.optionalText(2),
          retryAt: try row.optionalTimestamp(3))
      }
    ])
    return answer
  }

  package func put(_ chunks: [[UInt8]], of file: Identifier, first: Int) throws -> FileAnswer {
    var refusal: FileAnswer?
    try run(
      chunks.enumerated().map { index, chunk in
        var statement = PQConnection.Statement(
          "SELECT error, retry_at FROM dm1.put($1::uuid, $2::integer, $3::bytea)",
          [file.description, String(first + index)]
        ) { row in
          guard refusal == nil, let fault = row.optionalText(0) else { return }
          refusal = FileAnswer(fault: fault, retryAt: try row.optionalTimestamp(1))
        }
        statement.bytes = chunk
        return statement
      })
    return refusal ?? FileAnswer()
  }

  package func fetch(
    _ file: Identifier, first: Int, count: Int, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    try withoutActuallyEscaping(body) { body in
      try run([
        PQConnection.Statement(
          "SELECT bytes FROM dm1.chunks($1::uuid, $2::integer, $3::integer)",
          [file.description, String(first), String(count)]
        ) { row in
          guard let bytes = row.value(0) else { throw HubFault.damaged("a chunk of a file is absent") }
          try body(bytes)
        }
      ])
    }
  }
}
