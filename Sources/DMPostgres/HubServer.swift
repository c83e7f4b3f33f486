package import DMJSON
internal import DMKit
internal import DMStore

/// The size and the load of a hub, and the problems that the administrator must fix.
package struct HubServer: Equatable, Sendable {
  package struct Size: Equatable, Sendable {
    package let persons: Int
    package let logins: Int
    /// The number of machines that were connected in the last 24 hours.
    package let loginsToday: Int
    package let conversations: Int
    package let entries: Int
    package let bytes: Int
    package let reports: Int
  }

  package struct Load: Equatable, Sendable {
    /// The number of connections of members.
    package let connections: Int
    package let allConnections: Int
    /// The maximum number of connections that the server allows, for all users together.
    package let connectionLimit: Int
    /// The age in seconds of the oldest open transaction that has written; such a transaction delays all members.
    package let oldestWriteSeconds: Int?
    package let preparedTransactions: Int
    /// How full the server's queue of notifications is, in percent.
    package let noticePercent: Int
    /// Whether commits wait for a standby although none is connected.
    package let lacksStandby: Bool
    package let standbys: Int
    /// The lag of the slowest standby in seconds; nil if nothing was written lately, or if the administrator may not
    /// read the lag.
    package let standbySeconds: Int?
  }

  package let version: Int
  package let serverVersion: Int
  /// The address to which the hub was moved; nil if it was not moved.
  package let movedTo: String?
  package let size: Size
  package let load: Load

  /// The problems that the administrator must fix, in words.
  package var problems: [String] {
    var problems: [String] = []
    if load.allConnections * 5 > load.connectionLimit * 4 {
      problems.append(
        "\(load.allConnections) of \(load.connectionLimit) connections are taken, so machines take turns; raise max_connections"
      )
    }
    if let seconds = load.oldestWriteSeconds, seconds > 60 {
      problems.append("a transaction has been open for \(seconds) seconds; if it is a member's, unstick it")
    }
    if load.preparedTransactions > 0 {
      problems.append("\(load.preparedTransactions) prepared transactions hold up all members; end them with psql(1)")
    }
    if load.noticePercent > 50 {
      problems.append("the queue of notifications is \(load.noticePercent) % full; unstick it")
    }
    if load.lacksStandby {
      problems.append(
        "commits wait for a standby, and none is connected; start one, or reset synchronous_standby_names")
    }
    if let seconds = load.standbySeconds, seconds > 60 {
      problems.append("a standby is \(seconds) seconds behind; look into its log")
    }
    return problems
  }
}

extension HubServer: Record {
  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("type", "hub_server")
      json.member("version", version)
      json.member("server_version", serverVersion)
      json.member("moved_to", movedTo)
      json.member("person_count", size.persons)
      json.member("login_count", size.logins)
      json.member("seen_login_count", size.loginsToday)
      json.member("connection_count", load.connections)
      json.member("connection_limit", load.connectionLimit)
      json.member("conversation_count", size.conversations)
      json.member("entry_count", size.entries)
      json.member("size_bytes", size.bytes)
      json.member("report_count", size.reports)
      json.member("oldest_write_seconds", load.oldestWriteSeconds)
      json.member("prepared_transaction_count", load.preparedTransactions)
      json.member("notification_queue_percent", load.noticePercent)
      json.member("standby_count", load.standbys)
      json.member("standby_lag_seconds", load.standbySeconds)
      json.member("problems", texts: problems)
    }
  }
}
