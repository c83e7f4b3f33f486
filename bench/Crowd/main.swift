import DMModel
import DMSystem
import Foundation

// crowd FOLDER PEOPLE GROUP FOLLOWERS MESSAGES SECONDS
// Lets the people p1 to pPEOPLE, whose linked stores are in FOLDER, live a day of SECONDS, in which each sends MESSAGES to a
// group of GROUP people; FOLLOWERS of them follow their stores. Prints a line of JSON.

extension Double { var logarithm: Double { log(self) } }

/// Prints a line at once.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

/// The figures of some times, in milliseconds.
func summary(_ times: [Int64]) -> String {
  let sorted = times.sorted()
  func rank(_ share: Double) -> Double {
    sorted.isEmpty ? 0 : Double(sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]) / 1000
  }
  return #"{"count":\#(sorted.count),"p50":\#(rank(0.5)),"p99":\#(rank(0.99)),"max":\#(rank(1))}"#
}

let words = CommandLine.arguments
guard words.count == 7, let count = Int(words[2]), let groupSize = Int(words[3]), let followers = Int(words[4]),
  let messages = Double(words[5]), let seconds = Int(words[6])
else { fatalError("usage: crowd FOLDER PEOPLE GROUP FOLLOWERS MESSAGES SECONDS") }

let people = try (1...count).map { number in
  try Person(number, in: words[1], groupSize: groupSize, isFollower: number <= followers)
}
for person in people { try person.connect() }
say("day")
let day = Day(seconds: seconds, messages: messages)
let threads = people.map { person in
  let thread = Thread { person.live(day) }
  thread.stackSize = 1 << 20
  thread.start()
  return thread
}
for thread in threads { while !thread.isFinished { usleep(10_000) } }
say("end")
// The server's processes stay until they have been measured.
usleep(3_000_000)
for person in people { person.leave() }

for person in people { if let fault = person.fault { FileHandle.standardError.write(Data("crowd: \(fault)\n".utf8)) } }
let answered = people.flatMap(\.figures.answered)
let seen = people.flatMap(\.figures.seen)
func busy(_ figures: [(hour: Int, time: Int64)]) -> String {
  summary(figures.filter { $0.hour == Day.busiestHour }.map(\.time))
}
say(
  #"{"answered":\#(summary(answered.map(\.time))),"seen":\#(summary(seen.map(\.time))),"#
    + #""busy_answered":\#(busy(answered)),"busy_seen":\#(busy(seen)),"faults":\#(people.count { $0.fault != nil })}"#)
