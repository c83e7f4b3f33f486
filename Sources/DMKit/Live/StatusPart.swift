/// A part of the messages whose status a change affects; a part is small, so that the record of each event is short.
///
/// A change is always divided into the same parts, so that a stream can stop after the event of one sender and continue
/// with the next sender of the same part.
struct StatusPart {
  private static let size = 1000

  let seqs: SeqRange

  init(of all: SeqRange, after delivered: Int) {
    let next = max(delivered + 1, all.lowerBound)
    let start = next - (next - all.lowerBound) % Self.size
    seqs = start...min(start + Self.size - 1, all.upperBound)
  }
}
