package import DMJSON
package import DMModel

/// A line of a usage log.
package struct UsageRecord: Equatable, Sendable, Record {
  /// The end of the act, in whole seconds.
  package let at: Timestamp
  package let act: UsageAct.Kind
  package let program: String
  package let version: String
  /// Microseconds.
  package let duration: Int
  package let count: Int
  package let bytes: Int
  /// The exit status that belongs to the result of the act.
  package let status: Int

  package init(_ act: UsageAct, at: Timestamp, program: String, version: String, status: Int) {
    self.at = Timestamp(microseconds: at.microseconds / 1_000_000 * 1_000_000)
    (self.act, self.program, self.version, self.status) = (act.kind, program, version, status)
    (duration, count, bytes) = (Int(act.duration), act.extent.count, act.extent.bytes)
  }

  /// Reads a line; members with other names are ignored, because a later version may add members.
  ///
  /// - Throws: `malformed_line`, `invalid_utf8`, `missing_field` or `bad_field`.
  package init(line: ArraySlice<UInt8>) throws {
    let line = try InputLine(line)
    func number(_ name: String) throws -> Int {
      guard let number = line.object.integer(name), number >= 0 else {
        throw DMError(.badField, "'\(name)' is not a number of 0 or more", subject: name)
      }
      return number
    }
    guard try line.required("type") == "usage" else {
      throw DMError(.badField, "'type' is not 'usage'", subject: "type")
    }
    guard let at = Timestamp(rfc3339: try line.required("at")) else {
      throw DMError(.badField, "'at' is not a time of RFC 3339", subject: "at")
    }
    guard let act = UsageAct.Kind(rawValue: try line.required("act")) else {
      throw DMError(.badField, "'act' is not an act that this version has", subject: "act")
    }
    (self.at, self.act) = (at, act)
    (program, version) = (try line.required("program"), try line.required("version"))
    (duration, count, bytes) = (try number("duration_us"), try number("count"), try number("bytes"))
    status = try number("status")
  }

  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("type", "usage")
      json.member("at", at)
      json.member("act", act.rawValue)
      json.member("program", program)
      json.member("version", version)
      json.member("duration_us", duration)
      json.member("count", count)
      json.member("bytes", bytes)
      json.member("status", status)
    }
  }
}

/// The acts of one kind on one day, from a usage log.
package struct UsageDay: Equatable, Sendable, Record {
  /// The local date, such as `2026-11-23`.
  package let day: String
  package let act: UsageAct.Kind
  package let total: UsageTotal

  package init(_ day: String, _ act: UsageAct.Kind, _ total: UsageTotal) {
    (self.day, self.act, self.total) = (day, act, total)
  }

  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("type", "usage_day")
      json.member("day", day)
      json.member("act", act.rawValue)
      json.member("acts_count", total.acts)
      json.member("failed_count", total.failed)
      json.member("count", total.count)
      json.member("bytes", total.bytes)
      json.member("median_us", total.durations.median)
    }
  }
}

extension RecordSchema {
  static let usage = RecordSchema(
    "usage",
    [
      Field("at", .time), Field("act", .words(UsageAct.Kind.allCases.map(\.rawValue))), Field("program", .string),
      Field("version", .string), Field("duration_us", .integer), Field("count", .integer), Field("bytes", .integer),
      Field("status", .integer),
    ])

  static let usageDay = RecordSchema(
    "usage_day",
    [
      Field("day", .string), Field("act", .words(UsageAct.Kind.allCases.map(\.rawValue))),
      Field("acts_count", .integer), Field("failed_count", .integer), Field("count", .integer),
      Field("bytes", .integer), Field("median_us", .integer),
    ])
}
