internal import DMModel

/// A text from a page as one safe line: without characters that control a terminal, reorder text or are invisible.
///
/// Spaces, line ends and control characters between words become one space.
///
/// - Parameter limit: the maximum number of code points; a longer text is cut and gets an ellipsis.
/// - Returns: nil if nothing is left.
func safeLine(_ text: String, limit: Int) -> String? {
  var scalars: [Unicode.Scalar] = []
  var needsSpace = false
  for scalar in text.unicodeScalars {
    if scalar.properties.isWhitespace || scalar.properties.generalCategory == .control {
      needsSpace = !scalars.isEmpty
    } else if !isHidden(scalar) {
      if needsSpace { scalars.append(" ") }
      needsSpace = false
      scalars.append(scalar)
    }
  }
  var kept = String.UnicodeScalarView()
  var count = 0
  for index in scalars.indices where !isInvisible(at: index, of: scalars) {
    if count == limit { return ellipsized(String(kept)) }
    kept.append(scalars[index])
    count += 1
  }
  return kept.isEmpty ? nil : String(kept)
}

/// The text with an ellipsis in place of its last character.
private func ellipsized(_ text: String) -> String { text.dropLast() + "…" }
