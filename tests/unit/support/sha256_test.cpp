// SHA-256 by the examples of FIPS 180-4 and by parts.
#include "support/sha256.h"

#include <catch2/catch.hpp>

namespace relish {

TEST_CASE("SHA-256 of the examples of its standard") {
  CHECK(sha256_of("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256_of("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sha256_of(std::string(1000000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("SHA-256 of parts is that of the whole") {
  const std::string text(300, 'x');
  for (std::size_t first : {1u, 63u, 64u, 65u, 128u, 200u}) {
    Sha256 hash;
    hash.add(std::string_view(text).substr(0, first));
    hash.add(std::string_view(text).substr(first));
    CHECK(hash.digits() == sha256_of(text));
  }
}

}  // namespace relish
