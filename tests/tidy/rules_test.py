#!/usr/bin/env python3
"""Each rule finds what it is there to find, and lets good code be."""

import unittest

import rules
from rules import Source


def found(check, *sources):
    return [(finding.path, finding.line) for finding in check(list(sources))]


class IncludeRules(unittest.TestCase):
    private = Source("backends/src/sqlite/connection.hpp", "#pragma once\n")

    def check(self, path, text, expected_lines):
        source = Source(path, text)
        lines = [line for where, line in found(rules.check_includes, source, self.private) if where == path]
        self.assertEqual(lines, expected_lines)

    def test_core_knows_no_other_module(self):
        self.check("core/src/relay.cpp", '#include "waybill/relay.hpp"\n#include "waybill/backends/memory.hpp"\n', [2])
        self.check("core/src/relay.cpp", '#include "waybill/transports/stdout.hpp"\n', [1])
        self.check("core/src/relay.cpp", '#include "waybill_sql_sqlite.hpp"\n', [1])

    def test_backends_and_transports_never_meet(self):
        self.check("backends/src/a.cpp", '#include "waybill/transports/stdout.hpp"\n', [1])
        self.check("transports/src/a.cpp", '#include "waybill/backends/memory.hpp"\n', [1])
        self.check("backends/src/a.cpp", '#include "waybill/backends/memory.hpp"\n#include "waybill/url.hpp"\n', [])

    def test_public_headers_name_no_third_party(self):
        self.check("core/include/waybill/codec.hpp", "#include <string>\n#include <nlohmann/json.hpp>\n", [2])
        self.check("backends/include/waybill/backends/sqlite.hpp", '#include "sqlite3.h"\n', [1])
        self.check("core/src/codec.cpp", "#include <nlohmann/json.hpp>\n", [])
        self.check("backends/include/waybill/backends/mysql.hpp", "#include <mysql.h>\n", [1])
        self.check("backends/include/waybill/backends/mysql_outbox.hpp", "#include <mysql.h>\n", [])

    def test_src_is_private_to_its_module(self):
        self.check("tools/waybill/main.cpp", '#include "sqlite/connection.hpp"\n', [1])
        self.check("tests/backends/a.cpp", '#include "../../backends/src/sqlite/connection.hpp"\n', [1])
        self.check("transports/src/a.cpp", '#include <connection.hpp>\n', [1])
        self.check("backends/src/a.cpp", '#include "sqlite/connection.hpp"\n', [])

    def test_a_header_of_the_same_name_in_ones_own_folder_is_fine(self):
        own = Source("tests/support/connection.hpp", "#pragma once\n")
        user = Source("tests/cli/a.cpp", '#include "support/connection.hpp"\n#include "connection.hpp"\n')
        self.assertEqual(found(rules.check_includes, user, own, self.private), [])


class SizeRules(unittest.TestCase):
    def test_long_files_and_lines(self):
        self.assertEqual(found(rules.check_size, Source("core/src/a.cpp", "x;\n" * 501)), [("core/src/a.cpp", 501)])
        self.assertEqual(found(rules.check_size, Source("core/src/a.cpp", "x;\n" * 500)), [])
        header = "core/include/waybill/a.hpp"
        self.assertEqual(found(rules.check_size, Source(header, "x;\n" * 251)), [(header, 251)])
        self.assertEqual(found(rules.check_size, Source("core/src/a.cpp", "\n" + "é" * 121)), [("core/src/a.cpp", 2)])
        self.assertEqual(found(rules.check_size, Source("core/src/a.cpp", "é" * 120)), [])

    def test_long_functions(self):
        def function(lines):
            return "int f(int a,\n      int b) {\n" + "  g();\n" * (lines - 3) + "}\n"

        path = "core/src/a.cpp"
        short = "namespace a {\nint x{1};\n" + function(60) + "}\n"
        long = "// a note\n\nnamespace a {\n" + short + function(61) + "}\n"
        self.assertEqual(found(rules.check_functions, Source(path, short)), [])
        self.assertEqual(found(rules.check_functions, Source(path, long)), [(path, 67)])
        method = "class C {\n public:\n  void m() const {\n" + "if (a) { b(); }\n" * 59 + "  }\n};\n"
        self.assertEqual(found(rules.check_functions, Source(path, method)), [(path, 3)])
        table = "constexpr T kRows[]{\n" + "  {f(1), 2},\n" * 90 + "};\n"
        self.assertEqual(found(rules.check_functions, Source(path, table)), [])


class LanguageRules(unittest.TestCase):
    def check(self, text, expected_lines, path="core/src/lifecycle.cpp", check=rules.check_language):
        self.assertEqual([line for _, line in found(check, Source(path, text))], expected_lines)

    def test_what_one_compiler_lacks(self):
        self.check("auto a = std::format(x);\n#include <expected>\nstd::views::all(v);\n", [1, 3, 2])
        self.check('// no std::format here\nauto a = "std::format"; auto formatted = std::formatted;\n', [])

    def test_time_and_chance_come_in_as_arguments(self):
        def check(text, lines, path="core/src/relay.cpp"):
            self.check(text, lines, path, rules.check_ambient)

        check("x = std::chrono::system_clock::now();\n", [1])
        check("\nstd::this_thread::sleep_for(a);\nstd::random_device device;\ngetenv(name);\n", [2, 3, 4])
        check("std::thread worker(f);\n", [1])
        check("auto now = repository.now();  // not system_clock::now()\n", [])
        check("x = std::chrono::system_clock::now();\n", [], "core/src/time.cpp")
        check("x = std::chrono::system_clock::now();\n", [], "backends/src/a.cpp")


class TestNameRules(unittest.TestCase):
    def test_names_that_ctest_would_tear_apart(self):
        def check(text, lines):
            self.assertEqual([line for _, line in found(rules.check_test_names, Source("tests/a.cpp", text))], lines)

        check('TEST_CASE("a; b") {}\nTEST_CASE_METHOD(Fixture, "in [0, 1)", "[tag]") {}\nTEST_CASE("--all") {}\n',
              [1, 2, 3])
        check('TEST_CASE("a, b: c\'s") {}\nTEST_CASE_METHOD(Fixture, "one", "[tag]") {}\n', [])


class TextRemoval(unittest.TestCase):
    def test_literals_and_comments_go_but_lines_stay(self):
        code = 'a = "x // y"; // z\nb = R"sql(one\n"two")sql";\n/* c\nd */ e = 1\'000\'000; f = \'"\';\n'
        left = rules.without_text(code)
        self.assertEqual(left.count("\n"), code.count("\n"))
        for gone in ("x", "y", "z", "one", "two", "c\n", "d "):
            self.assertNotIn(gone, left)
        self.assertIn("1'000'000", left)


class FolderRules(unittest.TestCase):
    def test_each_folder_has_its_readme_and_no_other_folder_is_there(self):
        every = set(rules.FOLDERS)
        self.assertEqual(list(rules.check_folders(every, every)), [])
        paths = [finding.path for finding in rules.check_folders(every | {"misc"}, every - {"sql"})]
        self.assertEqual(paths, ["misc", "sql"])


if __name__ == "__main__":
    unittest.main()
