"""The house rules that a program can check, each as a function from files to findings (path, line, message)."""

import posixpath
import re
from dataclasses import dataclass

MODULES = ("core", "backends", "transports")
FOLDERS = MODULES + ("sql", "tests", "fuzz", "tools")
CPP = (".hpp", ".cpp")
CODE = CPP + (".py", ".cmake", ".sh", ".sql")

MAX_FILE = 500
MAX_PUBLIC_HEADER = 250
MAX_LINE = 120
MAX_FUNCTION = 60

# Beside core's own headers, which all may include.
MAY_KNOW = {
    "core": (),
    "backends": ("waybill/backends/", "waybill_sql_"),
    "transports": ("waybill/transports/",),
}
MODULE_PREFIXES = ("waybill/backends/", "waybill/transports/", "waybill_sql_")

# C++20's headers and those of C in C++: all that a public header may name in angle brackets.
STANDARD = set("""
algorithm any array atomic barrier bit bitset charconv chrono codecvt compare complex concepts condition_variable
coroutine deque exception execution filesystem forward_list fstream functional future initializer_list iomanip ios
iosfwd iostream istream iterator latch limits list locale map memory memory_resource mutex new numbers numeric optional
ostream queue random ranges ratio regex scoped_allocator semaphore set shared_mutex span sstream stack stdexcept
stop_token streambuf string string_view syncstream system_error thread tuple type_traits typeindex typeinfo
unordered_map unordered_set utility valarray variant vector version
cassert cctype cerrno cfenv cfloat cinttypes climits clocale cmath csetjmp csignal cstdarg cstddef cstdint cstdio
cstdlib cstring ctime cuchar cwchar cwctype
""".split())

# g++ 12 and clang 14 do not both take these.
TOO_NEW = ("std::format", "std::expected", "std::views", "std::ranges::views", "source_location")
TOO_NEW_HEADERS = ("format", "expected", "source_location")

# The domain and Relay get time, chance and settings as arguments. These files exist to supply them.
SUPPLIERS = ("time.cpp", "relay_runner.cpp", "relay_runner.hpp", "stop_on_signals.cpp", "appender.cpp", "appender.hpp")
AMBIENT = re.compile(
    r"\b(system_clock|steady_clock|high_resolution_clock)::now\b|\bsleep_(for|until)\b|\b(u|nano)?sleep\s*\("
    r"|\brandom_device\b|\b(secure_)?getenv\b|\bstd::j?thread\b|\bstd::async\b|\bgettimeofday\b|\bclock_gettime\b"
    r"|\bs?rand\s*\(|\bSystemClock\s*[({]")


@dataclass(frozen=True, order=True)
class Finding:
    path: str
    line: int
    message: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.message}"


@dataclass(frozen=True)
class Source:
    """A file of the tree: `path` relative to the root with forward slashes."""

    path: str
    text: str

    @property
    def module(self):
        return self.path.split("/", 1)[0]

    @property
    def is_cpp(self):
        return self.path.endswith(CPP)

    @property
    def is_public_header(self):
        return self.path.endswith(".hpp") and self.path.startswith(tuple(f"{m}/include/" for m in MODULES))


_LITERALS = re.compile(
    r'R"(?P<tag>[^\s()\\]{0,16})\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])*\''
    r"|//[^\n]*|/\*.*?\*/", re.S)


def without_text(code):
    """The code with comments and literals blanked out; line numbers stay."""

    def blank(match):
        text = match.group(0)
        newlines = "\n" * text.count("\n")
        return newlines if text.startswith("/") else '""' + newlines

    return _LITERALS.sub(blank, code)


_INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.M)


def includes(source):
    """(line, name) of each include."""
    for match in _INCLUDE.finditer(source.text):
        yield source.text.count("\n", 0, match.start(1)) + 1, match.group(1)


def check_includes(sources):
    """Who may know whom: core knows nobody, backends and transports never meet, `src/` is private to its module."""
    paths = [source.path for source in sources]
    for source in sources:
        if source.is_cpp:
            for line, name in includes(source):
                message = _forbidden_include(source, name, paths)
                if message:
                    yield Finding(source.path, line, message)


# A header whose interface is about a library's own type: the caller's connection.
_ABOUT_A_LIBRARY = {"backends/include/waybill/backends/mysql_outbox.hpp": "mysql.h"}


def _forbidden_include(source, name, paths):
    owner = _owner_of_private(source, name, paths)
    if owner:
        return f"{name} is private to {owner}/src"
    if source.module in MODULES:
        for prefix in MODULE_PREFIXES:
            if name.startswith(prefix) and prefix not in MAY_KNOW[source.module]:
                return f"{source.module} may not know {name}"
    if source.is_public_header and not name.startswith("waybill/") and name not in STANDARD \
            and name != _ABOUT_A_LIBRARY.get(source.path):
        return f"a public header may include waybill's public headers and the standard library only, not {name}"
    return None


def _owner_of_private(source, name, paths):
    """The other module whose src/ `name` comes from, if any."""
    from_here = posixpath.normpath(posixpath.join(posixpath.dirname(source.path), name))
    if from_here in paths:
        candidates = [from_here]
    elif any(path.startswith(source.module + "/") and path.endswith("/" + name) for path in paths):
        candidates = []
    else:
        candidates = [path for path in paths if path == name or path.endswith("/" + name)]
    for path in candidates:
        top, _, rest = path.partition("/")
        if top in MODULES and top != source.module and rest.startswith("src/"):
            return top
    return None


def check_size(sources):
    for source in sources:
        if not source.path.endswith(CODE):
            continue
        lines = source.text.splitlines()
        limit = MAX_PUBLIC_HEADER if source.is_public_header else MAX_FILE
        if len(lines) > limit:
            yield Finding(source.path, limit + 1, f"{len(lines)} lines; at most {limit}")
        for number, line in enumerate(lines, 1):
            if len(line) > MAX_LINE:
                yield Finding(source.path, number, f"{len(line)} characters; at most {MAX_LINE}")


_ACCESS = re.compile(r"\s*(?:public|private|protected)\s*:")
_NOT_A_FUNCTION = re.compile(
    r"\s*(?:template\s*<[^{}]*>\s*)?(?:inline\s+)?(?:namespace|class|struct|union|enum|extern)\b"
    r"|\s*return\b|.*=\s*$", re.S)


def functions(code):
    """(first line, last line) of each outermost function body in code without text."""
    stack = []  # (is a function, first line)
    head_start = 0
    depth_of_function = None
    for position, char in enumerate(code):
        if char == "{":
            label = _ACCESS.match(code, head_start, position)
            head = code[label.end() if label else head_start:position].lstrip()
            is_function = depth_of_function is None and "(" in head and not _NOT_A_FUNCTION.match(head)
            first = code.count("\n", 0, position - len(head)) + 1
            stack.append((is_function, first))
            if is_function:
                depth_of_function = len(stack)
        elif char == "}" and stack:
            is_function, first = stack.pop()
            if is_function:
                depth_of_function = None
                yield first, code.count("\n", 0, position) + 1
        if char in "{};" or (char == "\n" and code[head_start:position].lstrip().startswith("#")):
            head_start = position + 1


def check_functions(sources):
    for source in sources:
        if source.is_cpp:
            for first, last in functions(without_text(source.text)):
                if last - first + 1 > MAX_FUNCTION:
                    yield Finding(source.path, first, f"a function of {last - first + 1} lines; at most {MAX_FUNCTION}")


def check_language(sources):
    for source in sources:
        if not source.is_cpp:
            continue
        for number, line in enumerate(without_text(source.text).splitlines(), 1):
            for word in TOO_NEW:
                if re.search(rf"\b{re.escape(word)}\b", line):
                    yield Finding(source.path, number, f"{word}: g++ 12 and clang 14 do not both have it")
        for line, name in includes(source):
            if name in TOO_NEW_HEADERS:
                yield Finding(source.path, line, f"<{name}>: g++ 12 and clang 14 do not both have it")


def check_ambient(sources):
    for source in sources:
        if not source.is_cpp or source.module != "core" or source.path.endswith(SUPPLIERS):
            continue
        for number, line in enumerate(without_text(source.text).splitlines(), 1):
            match = AMBIENT.search(line)
            if match:
                yield Finding(source.path, number, f"{match.group(0).strip()}: time, chance, settings and threads "
                              "come into core's domain as arguments")


def check_folders(folders, readmes):
    """`folders`: those at the root; `readmes`: those of them that have a README.md."""
    for folder in sorted(folders - set(FOLDERS)):
        yield Finding(folder, 1, f"no folder but {', '.join(FOLDERS)} at the root")
    for folder in FOLDERS:
        if folder not in readmes:
            yield Finding(folder, 1, "README.md is missing: what lives here, what it may depend on, how to add one")


_TEST_NAME = re.compile(r'\bTEST_CASE(?:_METHOD)?\s*\(\s*(?:[\w:]+\s*,\s*)?"((?:\\.|[^"\\\n])*)"')


def check_test_names(sources):
    """CMake splits a name at `;` and at brackets, Catch2 takes a leading `-` for a flag: such a test would not run."""
    for source in sources:
        if not source.is_cpp:
            continue
        for match in _TEST_NAME.finditer(source.text):
            if re.search(r"[;\[\]]|^[-~]|^$", match.group(1)):
                line = source.text.count("\n", 0, match.start()) + 1
                yield Finding(source.path, line, "ctest can't pass on this name: no ; [ ] and no - or ~ in front")


CHECKS = (check_includes, check_size, check_functions, check_language, check_ambient, check_test_names)
