# Written, not run: a formula for a tap of your own.
class Phi < Formula
  desc "LLM agent loop in portable C: headers, and a command for the terminal"
  homepage "@REPOSITORY@"
  url "@URL@/phi-@VERSION@-source.tar.gz"
  sha256 "@SOURCE_SHA256@"
  license "MIT"

  depends_on "pkgconf" => :test
  depends_on "python@3.13" => :build
  uses_from_macos "curl"

  def install
    system "make", "install", "PREFIX=#{prefix}", "CC=#{ENV.cc}", "PYTHON=python3.13"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/phi --version")
    assert_match "-I#{include}", shell_output("pkgconf --cflags phi")
  end
end
