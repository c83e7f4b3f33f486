/// The version of the suite; CHANGELOG.md begins with the same version.
package let version = "0.2.0"
