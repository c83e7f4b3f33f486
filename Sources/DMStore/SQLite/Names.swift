/// A name, quoted for SQL; no name in a store contains a quotation mark.
package func quoted(_ name: String) -> String { "\"\(name)\"" }

/// A list of names for SQL, each quoted.
package func list(_ names: [String]) -> String { names.map(quoted).joined(separator: ", ") }
