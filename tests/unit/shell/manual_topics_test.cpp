// The sections that `help loops` names exist, and the words that people ask for are known.
#include <catch2/catch.hpp>

#include "shell/commands/manual_topics.h"
#include "tests/unit/temporary_folder.h"

namespace relish::testing {

TEST_CASE("the sections of the manual that help names exist", "[manual_topics]") {
  for (const ManualTopic& topic : manual_topics()) {
    const std::string page = "docs/" + std::string(topic.page), section(topic.section);
    INFO(page << ", " << section);
    const std::string text = "\n" + bytes_of(std::string(RELISH_SOURCE_DIR) + "/" + page);
    const bool stands = text.find("\n# " + section + "\n") != std::string::npos ||
                        text.find("\n## " + section + "\n") != std::string::npos ||
                        text.find("\n### " + section + "\n") != std::string::npos;
    CHECK(stands);
  }
  for (const char* word : {"statements", "Loops", "slicing", "f-strings", "built-in"}) {
    INFO(word);
    CHECK(manual_topic(word).has_value());
  }
  CHECK_FALSE(manual_topic("loo").has_value());
  CHECK_FALSE(manual_topic("").has_value());
}

}  // namespace relish::testing
