import Testing

@testable import DMStore

@Suite struct SearchTextTests {
  private func apart(_ text: String) -> String { text.replacing("|", with: "\u{1F}") }

  @Test func `only characters of scripts without spaces are indexed one by one`() {
    for text in ["", "hello", "Grüße, Ærøskøbing", "été", "“so” – they said…", "don't", "Привет", "שלום", "हिन्दी"] {
      #expect(SearchText.indexed(text) == text)
    }
    #expect(SearchText.indexed("北京") == apart("|北||京|"))
    #expect(SearchText.indexed("iPhone手机 ok") == apart("iPhone|手||机| ok"))
    #expect(SearchText.indexed("– 🙂カ") == apart("– ||カ|"))
    #expect(SearchText.indexed("한국 ﾊ 𠮷 ก ខ မ ラ") == apart("|한||국| |ﾊ| |𠮷| |ก| |ខ| |မ| |ラ|"))
  }

  @Test func `a query becomes an expression in which each word is quoted`() {
    let cases: [(query: String, expression: String?)] = [
      ("lunch", #""lunch""#), ("lunch today", #""lunch" AND "today""#), (#""lunch today""#, #""lunch today""#),
      ("lun*", #""lun"*"#), ("a AND b", #""a" AND "b""#), ("a OR b", #""a" OR "b""#), ("a NOT b", #""a" NOT "b""#),
      ("a b NOT c d", #"("a" AND "b") NOT ("c" AND "d")"#), ("a OR b c", #""a" OR ("b" AND "c")"#),
      ("a NOT b NOT c", #""a" NOT ("b" OR "c")"#), ("(a OR b) c", #"("a" OR "b") AND "c""#), ("((a))", #""a""#),
      ("and or not", #""and" AND "or" AND "not""#), (#""lun"*"#, #""lun"*"#),
      (#""say ""hi"" now""#, #""say  hi  now""#),
      ("foo-bar", #""foo-bar""#), ("don't", #""don't""#), ("a.b@c", #""a.b@c""#), ("text:foo", #""text:foo""#),
      ("C++", #""C++""#), ("https://a.b/c?d=e", #""https://a.b/c?d=e""#), ("main() x", #""main()" AND "x""#),
      ("(f(x) OR y)", #""f(x)" OR "y""#), ("NEAR(a b)", #""NEAR(a b)""#), ("^a", #""^a""#), ("a + b", #""a" AND "b""#),
      // A query with invalid syntax is searched as a phrase.
      ("(a", #""(a""#), ("a)", #""a)""#), (#""a"#, #"" a""#), ("a AND", #""a AND""#), ("NOT a", #""NOT a""#),
      ("a OR OR b", #""a OR OR b""#), ("AND", #""AND""#), ("() a", #""() a""#), ("lunch :)", #""lunch :)""#),
      (#"5" disk"#, #""5  disk""#),
      // Parts of a query without words are left out.
      ("", nil), (" \n\u{3000}", nil), ("🙂", nil), ("?!", nil), (#""""#, nil), ("*", nil), ("\"-\" OR '", nil),
      ("\0\u{1}", nil), ("🙂 lunch", #""lunch""#), ("lunch AND 🙂", #""lunch""#), ("a NOT -", #""a""#), ("- NOT a", nil),
      ("a\0b", #""a" AND "b""#),
      // Scripts without spaces.
      ("北京", apart(#""|北||京|""#)), ("北京*", apart(#""|北||京|"*"#)), ("iPhone手机", apart(#""iPhone|手||机|""#)),
    ]
    for (query, expression) in cases { #expect(SearchExpression(query).expression == expression, "\(query)") }
  }

  @Test func `many NOTs are flattened for FTS5, and deeply nested parentheses become a quoted text`() {
    #expect(
      SearchExpression("a" + String(repeating: " NOT b", count: 500)).expression?.contains("NOT (\"b\" OR") == true)
    for depth in [100, 100_000] {
      let nested = String(repeating: "(", count: depth) + "a" + String(repeating: ")", count: depth)
      #expect(SearchExpression(nested).expression == "\"\(nested)\"")
    }
  }
}
