internal import DMJSON
internal import DMKit

/// A request that is being answered, and the revision of the protocol that its answer follows.
struct AgentCall {
  let id: RPCRequest.ID
  let revision: Revision
  private let server: (name: String, version: String)

  init(_ id: RPCRequest.ID, _ revision: Revision, _ settings: AgentServer.Settings) {
    (self.id, self.revision, server) = (id, revision, (settings.name, settings.version))
  }

  /// The answer to a request that succeeded.
  ///
  /// - Parameters:
  ///   - freshness: for how many milliseconds a client may reuse the result (see "Caching" in the protocol); nil for a
  ///     result that must not be reused.
  ///   - members: writes the members of the result.
  func result(fresh freshness: Int? = nil, _ members: (inout JSONWriter) -> Void) -> [UInt8] {
    response(to: id) { json in
      json.key("result")
      json.object { json in
        if revision.isStateless { writeCommon(freshness, to: &json) }
        members(&json)
      }
    }
  }

  /// Writes the members that each result has from the revision of July 2026 on.
  private func writeCommon(_ freshness: Int?, to json: inout JSONWriter) {
    json.member("resultType", "complete")
    if let freshness {
      json.member("ttlMs", freshness)
      // All results depend on the user, and on what the owner of the store allows the agent.
      json.member("cacheScope", "private")
    }
    json.key("_meta")
    json.object { json in
      json.key("io.modelcontextprotocol/serverInfo")
      writeServer(to: &json)
    }
  }

  func writeServer(to json: inout JSONWriter) {
    json.object { json in
      json.member("name", server.name)
      json.member("version", server.version)
    }
  }
}
