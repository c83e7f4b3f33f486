/// The version of the suite; CHANGELOG.md begins with the same.
public let version = "0.2.0"
