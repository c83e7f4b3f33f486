// The numbers of acts in the table `outbox`. The table of linked stores allows none above 15, so a report has the number of
// a profile, and a target, which a profile has not.

extension Outbox.Act {
  var stored: Int64 { self == .report ? Self.profile.rawValue : rawValue }

  /// The act with a number; nil for one that this version does not know.
  init?(stored number: Int64, hasTarget: Bool) {
    guard let act = Self(rawValue: number) else { return nil }
    self = act == .profile && hasTarget ? .report : act
  }
}
