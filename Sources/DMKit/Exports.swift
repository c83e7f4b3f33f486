// The public API of DMKit uses types of this module, so `import DMKit` is enough for a program.
@_exported public import DMModel
