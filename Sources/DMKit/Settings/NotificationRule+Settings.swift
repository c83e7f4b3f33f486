internal import DMSystem

extension NotificationRule {
  /// The rule of the settings `notifications`, `keywords` and `quiet-hours`.
  ///
  /// - Throws: `usage`, `invalid_utf8`.
  package init(_ settings: Settings) throws(DMError) {
    self.init()
    takesAll = try settings[.notifications] == "all"
    keywords = try settings[.keywords].map(Self.keywords) ?? []
    quietHours = try settings[.quietHours].flatMap { QuietHours($0) }
  }

  /// Whether a time is in the quiet hours, in the local time zone.
  package func isQuiet(at time: Timestamp) -> Bool {
    let time = LocalTime(time)
    return quietHours?.contains(minute: time.hour * 60 + time.minute) == true
  }
}
