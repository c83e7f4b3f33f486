import Testing

@testable import DMMedia

struct WaveformTests {
  private func waveform(_ samples: some Sequence<Int16>) -> Waveform {
    var waveform = Waveform()
    for sample in samples { withUnsafeBytes(of: sample.littleEndian) { waveform.add($0) } }
    return waveform
  }

  @Test(arguments: [0, 1, 63, 64, 65, 1000, 4096, 4097, 100_000])
  func `the waveform of silence is 64 zeros`(_ count: Int) {
    #expect(waveform(repeatElement(0, count: count)).buckets == [UInt8](repeating: 0, count: 64))
  }

  @Test(arguments: [1, 2, 63, 64, 65, 127, 1000, 4096, 4097, 8193, 100_000])
  func `the waveform of a constant sound is 64 times 255, whatever its length and loudness`(_ count: Int) {
    for strength in [1, -1, 100, .max, .min] as [Int16] {
      #expect(waveform(repeatElement(strength, count: count)).buckets == [UInt8](repeating: 255, count: 64))
    }
  }

  @Test(arguments: [64, 640, 4096, 64_000, 1_000_000])
  func `a sound that grows louder evenly has a waveform that rises evenly`(_ count: Int) {
    let buckets = waveform((0..<count).map { Int16($0 * 32_000 / count) }).buckets
    for (part, value) in buckets.enumerated() {
      // The peak of each bucket is at its end; a chunk of samples may overlap two buckets.
      #expect(abs(Int(value) - 255 * (part + 1) / 64) <= 5)
    }
  }

  @Test func `with fewer samples than buckets, each sample fills several buckets`() {
    #expect(waveform([0, 100]).buckets == [UInt8](repeating: 0, count: 32) + [UInt8](repeating: 255, count: 32))
    #expect(waveform([-50, 100]).buckets.first == 128)
  }

  @Test func `samples may be split between two calls at any byte`() {
    let bytes: [UInt8] = [1, 0, 0, 1, 0x34, 0x12]
    var (whole, split) = (Waveform(), Waveform())
    bytes.withUnsafeBytes { whole.add($0) }
    for byte in bytes { withUnsafeBytes(of: byte) { split.add($0) } }
    #expect(whole.count == 3)
    #expect(split.count == 3)
    #expect(whole.buckets == split.buckets)
  }

  @Test func `8000 samples are one second`() {
    #expect(waveform(repeatElement(0, count: 12_000)).duration == .milliseconds(1500))
  }
}
