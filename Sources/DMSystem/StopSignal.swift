internal import Glibc
internal import Synchronization

/// Stops a thread that waits for descriptors, by closing the writing end of a pipe.
package final class StopSignal: Sendable {
  private let ends: (reading: Int32, writing: Int32)
  private let isGiven = Atomic<Bool>(false)

  package init() {
    ends = pipeEnds() ?? (-1, -1)
  }

  deinit {
    give()
    close(ends.reading)
  }

  /// The descriptor whose other end is closed by `give`; nil if no pipe could be made.
  package var descriptor: Int32? { ends.reading < 0 ? nil : ends.reading }

  package var wasGiven: Bool { isGiven.load(ordering: .acquiring) }

  package func give() {
    if !isGiven.exchange(true, ordering: .acquiringAndReleasing) { close(ends.writing) }
  }
}
