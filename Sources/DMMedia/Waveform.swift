internal import DMModel

/// The loudness over time of a sound of any length, computed while its samples arrive.
///
/// A waveform keeps the peaks of slices of equal length; when there are too many slices, it merges them in pairs.
struct Waveform {
  /// The number of samples that were added.
  private(set) var count = 0
  private var peaks: [UInt16] = []
  private var samplesPerPeak = 1
  /// The first byte of a sample whose second byte has not arrived.
  private var half: UInt8?

  /// Samples per second.
  static let rate = 8000
  private static let capacity = 64 * Attachment.waveformCount

  /// Adds 16-bit little-endian samples, which may be split between any two bytes.
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

  /// The loudness of 64 equal parts: 255 for the loudest part; 0 for all parts if the sound is silent.
  var buckets: [UInt8] {
    let parts = Attachment.waveformCount
    guard let loudest = peaks.max(), loudest > 0 else { return [UInt8](repeating: 0, count: parts) }
    return (0..<parts).map { part in
      let start = part * peaks.count / parts
      // If there are fewer peaks than parts, each peak fills several parts.
      let end = max(start + 1, (part + 1) * peaks.count / parts)
      let peak = peaks[start..<end].max() ?? 0
      return UInt8((255 * Int(peak) + Int(loudest) / 2) / Int(loudest))
    }
  }
}
