// The public API of DMKit shows types of this module: `import DMKit` is enough for a program.
@_exported public import DMModel
