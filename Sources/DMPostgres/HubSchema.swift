/// The SQL scripts that create and update the tables and functions of a hub.
///
/// Each installation runs the steps that were added since the last installation, and then creates or replaces all
/// `functions`. A released step is never edited. The number of steps is the hub's version.
enum HubSchema {
  static let steps: [[[UInt8]]] = [
    [PackageResources.schemas_sql, PackageResources.tables_sql, PackageResources.policies_sql],
    [PackageResources.reports_sql, PackageResources.signals_sql, PackageResources.limits_sql],
    [PackageResources.moving_sql],
    [PackageResources.files_sql],
    [PackageResources.own_states_sql],
    [PackageResources.stamps_sql],
    [PackageResources.closing_sql],
    [PackageResources.pins_sql],
  ]
  static let functions: [[UInt8]] = [
    PackageResources.reading_sql, PackageResources.floors_sql, PackageResources.log_sql, PackageResources.filing_sql,
    PackageResources.acts_sql, PackageResources.pinning_sql,
    PackageResources.members_sql, PackageResources.spending_sql, PackageResources.pushing_sql,
    PackageResources.keeping_sql, PackageResources.machines_sql, PackageResources.signalling_sql,
    PackageResources.administration_sql, PackageResources.forgetting_sql,
  ]

  /// The script that creates the roles, which each installation runs before the steps.
  static let roles = PackageResources.roles_sql
  /// The script that sets owners and rights: each installation runs it last, and an update also runs it before the
  /// functions.
  static let walls = PackageResources.walls_sql

  /// The query that lists the differences from a correct installation.
  static let check = PackageResources.check_sql
}
