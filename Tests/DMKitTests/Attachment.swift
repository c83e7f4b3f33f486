import DMKit

/// Swift Testing has one, too.
typealias Attachment = DMKit.Attachment
