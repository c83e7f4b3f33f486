internal import DMKit
internal import DMStore
internal import DMSync

/// A limit of what a person may do on a hub: an act in a minute, or bytes in an hour.
package struct HubLimit: Equatable, Sendable {
  /// The name of the operation in the protocol.
  package let act: String?
  package let perMinute: Int?
  package let bytesPerHour: Int?

  package init(act: String?, perMinute: Int?, bytesPerHour: Int?) {
    self.act = act
    self.perMinute = perMinute
    self.bytesPerHour = bytesPerHour
  }

  /// The acts that can be limited.
  package static let acts = Outbox.Act.allCases.map(\.word)
}

extension Administrator {
  /// The limits of a hub; acts that are not among them have none.
  ///
  /// - Throws: `HubFault`, `no_hub`.
  package func limits() throws -> [HubLimit] {
    try installedVersion()
    let bytes = try connection.rows("SELECT hourly_bytes FROM dm.hub") { Int(clamping: try $0.integer(0)) }
    let acts = try connection.rows("SELECT act, per_minute::bigint FROM dm.act_limit ORDER BY act") {
      (try $0.text(0), Int(clamping: try $0.integer(1)))
    }
    return bytes.map { HubLimit(act: nil, perMinute: nil, bytesPerHour: $0) }
      + acts.map { HubLimit(act: $0.0, perMinute: $0.1, bytesPerHour: nil) }
  }

  /// Sets limits, which members notice at their next push.
  ///
  /// - Parameters:
  ///   - bytesPerHour: at least 1 MiB; nil to leave it as it is.
  ///   - acts: for each act how often a person may do it in a minute, from 1 to 1,000,000; nil for no limit.
  /// - Throws: `HubFault`, `no_hub`.
  package func limit(bytesPerHour: Int?, acts: [(act: String, perMinute: Int?)]) throws {
    try installedVersion()
    if let bytesPerHour {
      _ = try connection.rows("UPDATE dm.hub SET hourly_bytes = $1::bigint", [String(bytesPerHour)]) { _ in }
    }
    for (act, perMinute) in acts {
      _ = try connection.rows(
        perMinute == nil
          ? "DELETE FROM dm.act_limit WHERE act = $1 AND $2::integer IS NULL"
          : "INSERT INTO dm.act_limit (act, per_minute) VALUES ($1, $2::integer) "
            + "ON CONFLICT (act) DO UPDATE SET per_minute = excluded.per_minute",
        [act, perMinute.map(String.init)]
      ) { _ in }
    }
  }
}
