internal import Glibc

/// The natural logarithm: log(3).
package func logarithm(of number: Double) -> Double { log(number) }
