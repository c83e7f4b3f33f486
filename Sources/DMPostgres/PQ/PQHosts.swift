internal import DMSync

/// The hosts of a hub, which are tried one after the other.
///
/// libpq can also try several hosts, but applies `connect_timeout` only in its blocking calls. With PQconnectPoll, a
/// host that does not answer keeps the later hosts from being tried (postgresql.org/docs/current/libpq-connect.html).
struct PQHosts {
  /// The parameters for each host.
  let all: [PQConnection.Settings]

  /// Microseconds to wait for one of several hosts before the next one is tried.
  private static let timeout: Int64 = 5_000_000

  /// - Parameter settings: the parameters of a connection. Hosts are separated by commas. A single port or IP address is
  ///   for all hosts; otherwise there is one for each host.
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

  /// Connects to the first host that is suitable; if none is, to the first host that answers.
  ///
  /// - Throws: `HubFault`: the fault of the first host that answers with an error or, if no host answers, `lost` with
  ///   the reasons of all hosts.
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
        // A host that is set up wrongly must not keep the others from being tried.
        refusal = refusal ?? fault
      }
    }
    if let unsuitable { return unsuitable }
    throw refusal ?? HubFault.lost(reasons.joined(separator: "; "))
  }
}
