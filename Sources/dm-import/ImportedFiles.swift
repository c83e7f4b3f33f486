internal import DMCLI
internal import DMKit

/// Prepares the files that lines name, as dm-attach(1) does it.
struct ImportedFiles {
  private let messenger: Messenger
  private let preparation: PreparationArguments
  /// The folder of the files, with a slash at its end; empty for the working directory.
  private let folder: String

  init(_ call: Invocation, _ messenger: Messenger) throws {
    self.messenger = messenger
    preparation = try PreparationArguments(call)
    folder = try call.arguments[DMImport.folder].map { $0 + "/" } ?? ""
  }

  /// The line, with its files prepared unless the store has its message already.
  ///
  /// - Throws: `unknown_file`, `bad_attachment`, or an error of the store or the disk.
  func prepared(_ line: Imported) throws -> Imported {
    guard case .message(var message) = line, !message.files.isEmpty else { return line }
    do {
      if try messenger.needsNoFiles(message) { return line }
      for file in message.files {
        try preparation.prepareAll([path(of: file)], name: file.name, messenger) {
          message.attachments.append(try $0.get().id)
        }
      }
    } catch let error as DMError {
      throw error.nonce == nil ? error.answering(nonce: message.nonce) : error
    }
    return .message(message)
  }

  private func path(of file: ImportedMessage.File) -> String {
    let path = file.path.utf8.first == UInt8(ascii: "/") ? file.path : folder + file.path
    // A dash alone would be standard input.
    return path == "-" ? "./-" : path
  }
}
