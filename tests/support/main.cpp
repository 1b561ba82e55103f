// The main() of every Catch2 v2 test program; v3 brings its own.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
