// The public API of DMKit shows types of these modules: `import DMKit` is enough for a program.
@_exported public import DMMedia
@_exported public import DMModel
@_exported public import DMStore
@_exported public import DMSystem
