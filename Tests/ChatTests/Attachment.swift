import DMKit

/// Swift Testing also has a type `Attachment`.
typealias Attachment = DMKit.Attachment
