/// What all tools have in common that work on one file.
struct Workbench {
  /// Where its private copy is, and what is made of it; nobody else writes there.
  let folder: String
  let searchPath: String
  /// Called about five times a second with what is being done, while it is; what it throws ends that.
  let progress: (String) throws -> Void

  func path(_ name: String) -> String { "\(folder)/\(name)" }
}
