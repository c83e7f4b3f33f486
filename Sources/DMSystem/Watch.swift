internal import Glibc

/// Reports when a file, or a file in a folder, was touched.
///
/// Uses inotify(7). No touch between two checks is missed, but a touch may be reported more than once.
package final class Watch {
  /// A descriptor that is readable after a touch; nil if the file cannot be watched, and the caller must check it
  /// regularly.
  package private(set) var descriptor: Int32?
  /// The reason why touches may be missed; nil if there is none.
  package private(set) var fault: String?
  /// Whether the file was removed and could not be watched again.
  package private(set) var isLost = false
  private let path: String

  private static let events = UInt32(
    IN_ATTRIB | IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF)

  package init(_ path: String) {
    self.path = path
    let descriptor = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
    if descriptor >= 0, inotify_add_watch(descriptor, path, Self.events) >= 0 {
      self.descriptor = descriptor
    } else {
      let advice =
        switch errno {
        case EMFILE: "; raise fs.inotify.max_user_instances"
        case ENOSPC: "; raise fs.inotify.max_user_watches"
        default: ""
        }
      fault = "cannot watch '\(path)': \(SystemFailure.current.text)\(advice)"
      if descriptor >= 0 { close(descriptor) }
    }
  }

  deinit { if let descriptor { close(descriptor) } }

  /// Reads all events that have arrived, and watches the file again if it was replaced.
  package func drain() {
    guard let descriptor else { return }
    withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
      var count = buffer.count
      // A read that left half of the buffer free has read all events.
      while count > buffer.count / 2 {
        count = read(descriptor, buffer.baseAddress, buffer.count)
        var offset = 0
        while offset < count {
          let event = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
          offset += MemoryLayout<inotify_event>.size + Int(event.len)
          let mask = Int(event.mask)
          if mask & Int(IN_Q_OVERFLOW) != 0 { fault = "'\(path)' changed too often to be told of each time" }
          if mask & Int(IN_IGNORED) != 0, inotify_add_watch(descriptor, path, Self.events) < 0 {
            fault = "cannot watch '\(path)' any more: \(SystemFailure.current.text)"
            isLost = true
          }
        }
      }
    }
  }
}
