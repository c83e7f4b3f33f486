internal import DMStore

extension Session {
  func unknownUser(_ handle: Handle) throws -> DMError { try messenger.unknownUser(handle, store, visibleTo: me) }

  /// The error for a group title that no group has.
  func unknownGroup(_ title: String) throws -> DMError {
    let suggestion = try messenger.suggestion(for: title, store, visibleTo: me)
    return DMError(
      .unknownConversation, "there is no group '+\(title)' that you are in\(suggestion ?? "")", subject: "+\(title)",
      remedy: suggestion == nil ? .listConversations : nil)
  }
}

extension Messenger {
  /// The error for a handle that no user has.
  ///
  /// - Parameter user: the key of the user who typed the handle; nil if they have no key yet.
  func unknownUser(_ handle: Handle, _ store: Store, visibleTo user: UserKey? = nil) throws -> DMError {
    let handle = handle.description
    if let problem = Handle.problem(with: handle) {
      let suggestion = try suggestion(for: handle, store, visibleTo: user)
      return DMError(
        .unknownUser, "'\(handle)' is not a user: as a handle \(problem)\(suggestion ?? "")", subject: handle)
    }
    if RangeReference(handle) != nil, Int(handle) == nil {
      return DMError(.unknownUser, "'\(handle)' is not a user; a range follows a conversation", subject: handle)
    }
    let suggestion = try suggestion(for: handle, store, visibleTo: user)
    if let whyUsersAreNotKnown {
      let words = "there is no user '\(handle)' in this store\(suggestion ?? "")"
      return DMError(
        .hubUnreachable, "\(words); they may be on the hub, but \(whyUsersAreNotKnown)", subject: handle,
        remedy: .showHubStatus)
    }
    return DMError(
      .unknownUser, "there is no user '\(handle)'\(suggestion ?? "")", subject: handle,
      remedy: suggestion != nil ? nil : store.isLinked ? .inviteUser : .addUser)
  }

  /// A clause for the end of an error text, with the most similar name; nil if no name is similar.
  fileprivate func suggestion(for name: String, _ store: Store, visibleTo user: UserKey?) throws -> String? {
    guard suggestionsLeft > 0 else { return nil }
    suggestionsLeft -= 1
    let wanted = name.lowercased()
    let names = try store.users.names(visibleTo: user)
    let near = names.map {
      (name: $0, distance: editDistance($0.without("+").lowercased(), wanted))
    }
    .filter { $0.distance <= max(1, wanted.count / 3) && $0.distance < wanted.count }
    .min { $0.distance < $1.distance }
    return (near?.name ?? only(of: names, containing: wanted)).map { "; did you mean '\($0)'?" }
  }

  /// The only title of these names that has the word as a part; nil for a word of one or two characters.
  private func only(of names: [String], containing word: String) -> String? {
    guard word.count > 2 else { return nil }
    let titles = Set(names.filter { $0.hasPrefix("+") && $0.lowercased().contains(text: word) })
    return titles.count == 1 ? titles.first : nil
  }
}

/// The minimum number of changes that turn one word into another; if the lengths differ by more than 16 bytes, the length
/// of the longer word.
///
/// A change adds, removes or replaces a character, or swaps two adjacent characters.
///
/// The cost is proportional to the product of the lengths of the words.
package func editDistance(_ one: some StringProtocol, _ other: some StringProtocol) -> Int {
  if abs(one.utf8.count - other.utf8.count) > 16 { return max(one.utf8.count, other.utf8.count) }
  let (a, b) = (Array(one), Array(other))
  var older: [Int] = []
  var previous = Array(0...b.count)
  for i in a.indices {
    var current = [i + 1]
    for j in b.indices {
      var best = min(previous[j] + (a[i] == b[j] ? 0 : 1), previous[j + 1] + 1, current[j] + 1)
      if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = min(best, older[j - 1] + 1) }
      current.append(best)
    }
    (older, previous) = (previous, current)
  }
  return previous[b.count]
}
