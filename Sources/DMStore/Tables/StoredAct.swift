// The numbers of acts in the table `outbox`. In linked stores, this table accepts no number above 15. Therefore a
// report is stored with the number of a profile change, and a pin with that of a change of the title. A row with one of
// these numbers is a report or a pin if it has a target.

extension Outbox.Act {
  var stored: Int64 {
    switch self {
    case .report: Self.profile.rawValue
    case .pin: Self.title.rawValue
    default: rawValue
    }
  }

  /// The act with a stored number; nil if this version of dm has no such act.
  init?(stored number: Int64, hasTarget: Bool) {
    guard let act = Self(rawValue: number) else { return nil }
    self = !hasTarget ? act : act == .profile ? .report : act == .title ? .pin : act
  }
}
