package import DMKit

/// The options of dm-attach and dm-send that say how files are prepared.
package struct PreparationArguments {
  static let asFile = Flag("as-file", "send the file unchanged")
  static let keepMetadata = Flag(
    "keep-metadata", "keep metadata, such as where a photo was taken")
  static let transcode = Option(
    "transcode", value: "RATE", "convert a video to H.264 and AAC, at this bit rate: 800k, 2M", as: kilobits)
  static let voice = Flag("voice", "convert a recording to a voice message")
  static let maxSize = Option(
    "max-size", value: "SIZE", "refuse files larger than this: 500M, 20G [4G]",
    as: { try byteCount($0, of: "--max-size") })

  package static let options: [any Declared] = [asFile, keepMetadata, transcode, voice, maxSize]
  package static let rules: [Rule] = [
    .excludes(asFile, [keepMetadata, transcode, voice]), .atMostOne([voice, transcode, keepMetadata]),
  ]

  private final class Warnings { var said: Set<String> = [] }

  private let options: PreparationOptions
  private let call: Invocation
  private let warnings = Warnings()

  /// - Throws: `usage`.
  package init(_ call: Invocation) throws {
    let arguments = call.arguments
    var options = PreparationOptions()
    options.asFile = arguments[Self.asFile]
    options.keepsMetadata = arguments[Self.keepMetadata]
    options.isVoice = arguments[Self.voice]
    options.videoBitrate = try arguments[Self.transcode]
    if let size = try arguments[Self.maxSize] { options.maximumSize = size }
    self.options = options
    self.call = call
  }

  /// Prepares files, where `-` is standard input, and calls `body` with each result as soon as it is ready.
  ///
  /// Each warning is printed only once on standard error, even if it is about several files.
  ///
  /// - Parameters:
  ///   - name: the new name of each file; nil to keep the names.
  ///   - body: gets the result of each file, in order.
  package func prepareAll(
    _ files: [String], name: String? = nil, _ messenger: Messenger, _ body: (Result<Attachment, DMError>) throws -> Void
  ) throws {
    if files.filter({ $0 == "-" }).count > 1 { throw usage("'-' was given more than once; standard input is one file") }
    let progress = Progress(call)
    for file in files {
      let result = try prepare(AttachmentSource(operand: file), name, messenger, progress)
      for advice in result.advice where warnings.said.insert(advice).inserted { printError(call.command.name, advice) }
      try body(result.map(\.attachment))
    }
  }

  /// Prepares one file with signals blocked.
  ///
  /// The signals are not blocked while the result is printed, because printing may wait for a reader.
  private func prepare(
    _ source: AttachmentSource, _ name: String?, _ messenger: Messenger, _ progress: Progress
  ) throws -> Result<Messenger.Prepared, DMError> {
    do {
      return try Interruption.heeded(progress) { step in
        .success(try messenger.prepare(source, name: name, options, progress: step))
      }
    } catch let error as DMError {
      return .failure(error)
    }
  }

  /// - Throws: `usage` if there are more files than a message can have; call this before any of them is prepared.
  package static func checkCount(_ files: [String]) throws {
    if files.count > Attachment.limit {
      throw usage("a message carries at most \(Attachment.limit) files; send several messages")
    }
  }
}

/// Kilobits per second, from a text such as `800k` or `2M`.
private func kilobits(_ text: String) throws -> Int {
  guard let rate = scaledNumber(text, units: ["k": 1, "M": 1000]), 50...100_000 ~= rate else {
    throw usage("'\(text)' is not a rate for --transcode; write 800k or 2M, from 50k to 100M")
  }
  return rate
}

/// Bytes, from a text such as `500M` or `20G`.
///
/// - Parameter option: the option that has this value.
/// - Throws: `usage`.
package func byteCount(_ text: String, of option: String) throws -> Int {
  guard let size = scaledNumber(text, units: ["k": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40]) else {
    throw usage("'\(text)' is not a size for \(option); write 500M or 20G")
  }
  return size
}

extension AttachmentSource {
  /// The file that an operand names; '-' is standard input.
  init(operand: String) { self = operand == "-" ? .descriptor(Stream.input.rawValue) : .file(operand) }
}

extension Result<Messenger.Prepared, DMError> {
  fileprivate var advice: [String] {
    if case .success(let prepared) = self { prepared.advice } else { [] }
  }
}
