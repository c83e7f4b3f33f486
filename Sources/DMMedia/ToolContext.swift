/// The common settings of all tools that work on one file.
struct ToolContext {
  /// The folder of the private copy and of the results; no other process writes there.
  let folder: String
  let searchPath: String
  /// Called about five times a second with a description of the work, while a tool runs; an error that it throws ends
  /// the tool.
  let progress: (String) throws -> Void

  func path(_ name: String) -> String { "\(folder)/\(name)" }
}
