/// The tables and functions of a hub.
///
/// A released step is never edited. The number of steps is the version.
enum HubSchema {
  static let steps: [[[UInt8]]] = [
    [
      PackageResources.roles_sql, PackageResources.tables_sql, PackageResources.policies_sql,
      PackageResources.reading_sql, PackageResources.log_sql, PackageResources.acts_sql, PackageResources.members_sql,
      PackageResources.pushing_sql, PackageResources.administration_sql,
    ]
  ]
}
