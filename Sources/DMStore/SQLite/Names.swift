/// A name as SQL quotes it; no name in a store has a quotation mark.
package func quoted(_ name: String) -> String { "\"\(name)\"" }

/// Names as SQL lists them.
package func list(_ names: [String]) -> String { names.map(quoted).joined(separator: ", ") }
