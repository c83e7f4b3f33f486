internal import DMSystem

/// The boxes of HEIC and AVIF (ISO/IEC 23008-12).
enum HEIF {
  static func header(of bytes: CheckedBytes) throws -> ImageHeader? {
    var meta = try Boxes.content(of: "meta", in: ByteReader(bytes))
    try meta.skip(fullBox)
    let container = try Boxes.content(of: "iprp", in: meta)
    // An index has 15 bits at most (ISO/IEC 23008-12, section 9.3.1).
    let properties = Array(Boxes(try Boxes.content(of: "ipco", in: container)).prefix(0x7FFF))
    let own = try primaryIndices(meta, container)
      .compactMap { properties.indices.contains($0 - 1) ? properties[$0 - 1] : nil }
    guard var header = try largest(own) ?? largest(properties) else { return nil }
    var turn = ImageRotation()
    for property in own { try apply(property, to: &header, &turn) }
    header.orientation = turn.orientation
    header.hasAlpha = properties.contains(where: isAlpha)
    return header
  }

  /// The number of bytes of the version and the flags of a full box (ISO/IEC 14496-12, section 4.2).
  private static let fullBox = 4

  /// The indices (from 1) of the primary item's properties, in the order in which the properties apply.
  private static func primaryIndices(_ meta: ByteReader, _ container: ByteReader) throws -> [Int] {
    guard var primary = Boxes(meta).first(where: { $0.name == "pitm" })?.content else { return [] }
    let isShort = try primary.number(1) == 0
    try primary.skip(3)
    let item = try primary.number(isShort ? 2 : 4)
    for box in Boxes(container) where box.name == "ipma" {
      var associations = box.content
      let hasShortItems = try associations.number(1) == 0
      let indexSize = try associations.number(3) & 1 + 1
      for _ in 0..<(try associations.number(4)) {
        let isPrimary = try associations.number(hasShortItems ? 2 : 4) == item
        var indices = try associations.part(try associations.number(1) * indexSize)
        guard isPrimary else { continue }
        var own: [Int] = []
        // Clears the first bit, which says whether a reader may ignore the property.
        while indices.next != nil { own.append(try indices.number(indexSize) & (indexSize == 1 ? 0x7F : 0x7FFF)) }
        return own
      }
    }
    return []
  }

  /// The largest image size that the properties contain (section 6.5.3).
  private static func largest(_ properties: [Boxes.Box]) throws -> ImageHeader? {
    var found: ImageHeader?
    for var property in properties where property.name == "ispe" {
      try property.content.skip(fullBox)
      let header = ImageHeader(width: try property.content.number(4), height: try property.content.number(4))
      let area = header.width.multipliedFullWidth(by: header.height)
      if let found, found.width.multipliedFullWidth(by: found.height) >= area { continue }
      found = header
    }
    return found
  }

  private static func apply(
    _ property: Boxes.Box, to header: inout ImageHeader, _ turn: inout ImageRotation
  ) throws {
    var content = property.content
    switch property.name {
    // Quarter turns counterclockwise (section 6.5.10).
    case "irot": turn.turn(clockwise: -(try content.number(1) & 3))
    // Exchanges top and bottom, or left and right (section 6.5.12, as ISO/IEC 23000-22 and decoders interpret it).
    case "imir":
      turn.mirror()
      if try content.number(1) & 1 == 0 { turn.turn(clockwise: 2) }
    // Crops to the displayed size, which is given as fractions (ISO/IEC 14496-12, section 12.1.4).
    case "clap":
      header.width = try fraction(&content) ?? header.width
      header.height = try fraction(&content) ?? header.height
    default: break
    }
  }

  private static func fraction(_ reader: inout ByteReader) throws -> Int? {
    let numerator = try reader.number(4)
    let denominator = try reader.number(4)
    return denominator == 0 ? nil : numerator / denominator
  }

  /// Whether a property has a text which says that an auxiliary image contains the transparency (section 6.5.8; AVIF,
  /// section 4.1).
  private static func isAlpha(_ property: Boxes.Box) -> Bool {
    var content = property.content
    guard property.name == "auxC" else { return false }
    _ = content.part(upTo: fullBox)
    return content.has("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0") || content.has("urn:mpeg:hevc:2015:auxid:1\0")
  }
}
