# Makes the tables of a generated recogniser come to life with its first object. ANTLR deserialises them in a static
# initialiser, which every start of the program would pay for, also where nothing is read. Nor are tables verified that
# ANTLR itself wrote: that took half the time of deserialising them.
# Usage: cmake -DSOURCE=RelishParser.cpp -DCLASS=RelishParser -P lazy_tables.cmake
file(READ "${SOURCE}" text)
set(static_object "${CLASS}::Initializer ${CLASS}::_init;")
string(FIND "${text}" "${static_object}" at)
if(at EQUAL -1)
  message(FATAL_ERROR "${SOURCE}: no static initialiser found; has the generator changed?")
endif()
string(REPLACE "${static_object}" "" text "${text}")
# The first line of the constructor, before the tables are used.
string(REPLACE "  _interpreter = new atn::" "  static Initializer tables;\n  _interpreter = new atn::" text "${text}")
set(verifying "  atn::ATNDeserializer deserializer;\n")
string(FIND "${text}" "${verifying}" at)
if(at EQUAL -1)
  message(FATAL_ERROR "${SOURCE}: no deserializer found; has the generator changed?")
endif()
string(REPLACE "${verifying}"
  "  atn::ATNDeserializationOptions options;\n  options.setVerifyATN(false);\n  atn::ATNDeserializer deserializer(options);\n"
  text "${text}")
file(WRITE "${SOURCE}" "${text}")
