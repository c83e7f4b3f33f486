internal import DMModel

/// How loud a sound is over its time, taken in as it comes and however long it is.
///
/// Peaks of equal slices are kept; when there are too many, each two become one.
struct Waveform {
  /// Samples taken in.
  private(set) var count = 0
  private var peaks: [UInt16] = []
  private var samplesPerPeak = 1
  /// The first byte of a sample whose second has not come.
  private var half: UInt8?

  /// Samples a second.
  static let rate = 8000
  private static let capacity = 64 * Attachment.waveformCount

  /// Adds 16-bit samples, little end first, split anywhere.
  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    for byte in bytes {
      guard let low = half else {
        half = byte
        continue
      }
      half = nil
      add(Int16(bitPattern: UInt16(byte) << 8 | UInt16(low)))
    }
  }

  private mutating func add(_ sample: Int16) {
    if count % samplesPerPeak == 0 {
      if peaks.count == Self.capacity {
        peaks = (0..<Self.capacity / 2).map { max(peaks[2 * $0], peaks[2 * $0 + 1]) }
        samplesPerPeak *= 2
      }
      peaks.append(0)
    }
    peaks[peaks.count - 1] = max(peaks[peaks.count - 1], sample.magnitude)
    count += 1
  }

  var duration: Duration { .milliseconds(1000 * count / Self.rate) }

  /// 64 equal parts, of which the loudest has 255, or all have 0 in silence.
  var buckets: [UInt8] {
    let parts = Attachment.waveformCount
    guard let loudest = peaks.max(), loudest > 0 else { return [UInt8](repeating: 0, count: parts) }
    return (0..<parts).map { part in
      let start = part * peaks.count / parts
      // Of fewer samples than parts each fills several.
      let end = max(start + 1, (part + 1) * peaks.count / parts)
      let peak = peaks[start..<end].max() ?? 0
      return UInt8((255 * Int(peak) + Int(loudest) / 2) / Int(loudest))
    }
  }
}
