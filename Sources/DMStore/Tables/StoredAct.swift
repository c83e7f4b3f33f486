// The numbers of acts in the table `outbox`. In linked stores, this table accepts no number above 15. Therefore a
// report is stored with the number of a profile change. A row with this number is a report if it has a target.

extension Outbox.Act {
  var stored: Int64 { self == .report ? Self.profile.rawValue : rawValue }

  /// The act with a stored number; nil if this version of dm has no such act.
  init?(stored number: Int64, hasTarget: Bool) {
    guard let act = Self(rawValue: number) else { return nil }
    self = act == .profile && hasTarget ? .report : act
  }
}
