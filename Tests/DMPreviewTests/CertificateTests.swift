import Foundation
import Testing

@testable import DMModel
@testable import DMPreview
@testable import DMSystem
@testable import TestSupport

/// Servers whose certificates do not fit.
struct CertificateTests {
  @Test(arguments: ["page.test", "other.test"])
  func `a certificate that nobody has signed, or that is for another name, is refused`(name: String) throws {
    let folder = try ToolFolder()
    let script = """
      openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=\(name) \
        -addext subjectAltName=DNS:\(name) -keyout key -out crt
      """
    _ = try folder.script(script).run([])
    let port = try PostgresServer.freePort()
    let server = Process()
    server.executableURL = URL(filePath: "/usr/bin/openssl")
    server.arguments = [
      "s_server", "-accept", "127.0.0.1:\(port)", "-key", folder.file("key"), "-cert", folder.file("crt"), "-www",
    ]
    let output = Foundation.Pipe()
    server.standardOutput = output
    server.standardError = output
    server.standardInput = FileHandle.nullDevice
    try server.run()
    defer { server.terminate() }
    var words = ""
    while !words.contains("ACCEPT"), case let data = output.fileHandleForReading.availableData, !data.isEmpty {
      words += String(decoding: data, as: UTF8.self)
    }
    var policy = FetchPolicy()
    policy.ports = [Int(port)]
    policy.exceptions = [Endpoint(address: try #require(IPAddress([127, 0, 0, 1])), port: port)]
    policy.resolved = ["page.test:\(port):127.0.0.1"]
    policy.time = .seconds(60)
    let maker = try PreviewMaker(policy)
    let error = #expect(throws: DMError.self) { try maker.preview(of: "https://page.test:\(port)/") }
    #expect(error?.message == "the certificate of 'page.test' does not fit, or is not trusted")
  }
}
