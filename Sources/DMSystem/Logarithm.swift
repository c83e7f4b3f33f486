internal import Glibc

/// The natural logarithm of a number (log(3)).
package func naturalLogarithm(_ number: Double) -> Double { log(number) }
