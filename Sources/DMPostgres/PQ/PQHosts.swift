internal import DMSync

/// The hosts of a hub, which are tried one after the other.
///
/// libpq could do so, but it applies `connect_timeout` only in its blocking calls: with PQconnectPoll, a host that does
/// not answer at all keeps the later ones from being tried (postgresql.org/docs/current/libpq-connect.html).
struct PQHosts {
  /// The parameters for each host.
  let all: [PQConnection.Settings]

  /// Microseconds to wait for one of several hosts before the next one is tried.
  private static let timeout: Int64 = 5_000_000

  /// - Parameter settings: the parameters; hosts are separated by commas, with one port and address for each or all.
  init(_ settings: PQConnection.Settings) {
    let hosts =
      settings.first { $0.name == "host" }?.value.split(separator: ",", omittingEmptySubsequences: false) ?? []
    all =
      hosts.count <= 1
      ? [settings]
      : hosts.indices.map { index in
        settings.map { name, value in
          guard ["host", "port", "hostaddr"].contains(name) else { return (name, value) }
          let parts = value.split(separator: ",", omittingEmptySubsequences: false)
          return (name, String(parts[min(index, parts.count - 1)]))
        }
      }
  }

  /// Connects to the first host that is suitable; if none is, to the first one that answers.
  ///
  /// - Throws: `HubFault`: the fault of the first host that answers and refuses; if none answers, the faults of all.
  func first<Value>(
    _ use: (PQConnection) throws -> Value, isSuitable: (Value) -> Bool = { _ in true }
  ) throws -> Value {
    if all.count == 1 { return try use(PQConnection(all[0])) }
    var unsuitable: Value?
    var (refusal, reasons): (HubFault?, [String]) = (nil, [])
    for settings in all {
      do {
        let value = try use(PQConnection(settings, timeout: Self.timeout))
        if isSuitable(value) { return value }
        unsuitable = unsuitable ?? value
      } catch HubFault.lost(let reason) {
        reasons.append(reason)
      } catch let fault as HubFault {
        // One that is set up wrongly must not hide the others.
        refusal = refusal ?? fault
      }
    }
    if let unsuitable { return unsuitable }
    throw refusal ?? HubFault.lost(reasons.joined(separator: "; "))
  }
}
