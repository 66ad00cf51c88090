"""Tables of programs: what runs tests, what only runs another program, what prints no summary."""

from __future__ import annotations

# Call: runner. The second word is the first word of the call that is no option.
PROGRAMS: dict[tuple[str, ...], str] = {
    ("pytest",): "pytest",
    ("py.test",): "pytest",
    ("vitest",): "vitest",
    ("jest",): "jest",
    ("react-scripts", "test"): "jest",
    ("mocha",): "mocha",
    ("_mocha",): "mocha",
    ("karma", "start"): "karma",
    ("ng", "test"): "karma",
    ("playwright", "test"): "playwright",
    ("go", "test"): "go",
    ("gotestsum",): "go",
    ("cargo", "test"): "cargo",
    ("cargo", "t"): "cargo",
    ("cargo", "nextest"): "cargo",
    ("cargo-nextest",): "cargo",
    ("dotnet", "test"): "dotnet",
    ("dotnet", "vstest"): "dotnet",
    ("vstest.console",): "dotnet",
    ("rspec",): "rspec",
    ("parallel_rspec",): "rspec",
    ("phpunit",): "phpunit",
    ("paratest",): "phpunit",
    ("pest",): "phpunit",
    ("artisan", "test"): "phpunit",
    ("ctest",): "ctest",
    ("bun", "test"): "bun",
    ("deno", "test"): "deno",
    ("mvn",): "surefire",
    ("mvnw",): "surefire",
    ("mvnd",): "surefire",
    ("gradle",): "gradle",
    ("gradlew",): "gradle",
}
MODULES: dict[str, str] = {"pytest": "pytest", "py.test": "pytest", "unittest": "unittest"}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Programs that run the rest of their words, and their options that take a value.
WRAPPERS: dict[str, frozenset[str]] = {
    "env": _words("-u --unset -C --chdir -S"),
    "time": _words("-f -o"),
    "nice": _words("-n"),
    "ionice": _words("-c -n"),
    "nohup": _words(""),
    "sudo": _words("-u -g"),
    "exec": _words("-a"),
    "command": _words(""),
    "timeout": _words("-s --signal -k --kill-after"),
    "gtimeout": _words("-s --signal -k --kill-after"),
    "stdbuf": _words("-i -o -e"),
    "unbuffer": _words(""),
    "caffeinate": _words(""),
    "setsid": _words(""),
    "chronic": _words(""),
    "flock": _words("-w"),
    "xvfb-run": _words("-n -s -e -f -p -w --server-args --server-num"),
    "npx": _words("-p --package"),
    "bunx": _words(""),
    "pnpx": _words(""),
    "cross-env": _words(""),
    "cross-env-shell": _words(""),
    "dotenv": _words("-e -c -v"),
    "env-cmd": _words("-f"),
    "c8": _words("--reporter -r --reports-dir"),
    "nyc": _words("--reporter -r"),
    "tsx": _words(""),
    "ts-node": _words(""),
    "start-server-and-test": _words(""),
}
# These take a word of their own before the program.
TAKES_ONE = _words("timeout gtimeout flock")

# Programs with a verb after which another program stands.
VERBS: dict[str, tuple[str, ...]] = {
    "poetry": ("run",),
    "uv": ("run",),
    "pipenv": ("run",),
    "pdm": ("run",),
    "rye": ("run",),
    "hatch": ("run",),
    "pixi": ("run",),
    "conda": ("run",),
    "micromamba": ("run",),
    "coverage": ("run",),
    "bundle": ("exec",),
    "composer": ("exec",),
    "npm": ("exec", "x"),
    "pnpm": ("exec", "dlx"),
    "yarn": ("exec", "dlx"),
    "direnv": ("exec",),
    "dotenvx": ("run",),
    "doppler": ("run",),
    "op": ("run",),
    "mise": ("exec", "x"),
    "asdf": ("exec",),
    "devbox": ("run",),
}
TAKES_VALUE = _words(
    "-p --package -n --name --with --group --extra --python --env --env-file -e --project --directory -C --filter -F"
    " -w --workspace --prefix --cwd --rcfile --source --include --omit --no-group --only-group --with-requirements"
)

SHELLS = _words("sh bash zsh dash ksh")
MANAGERS = _words("npm pnpm yarn bun")
# Verbs of a package manager that run no script.
NO_SCRIPT = _words("install add exec dlx build ci i remove up update why list audit publish init create config cache")

# Programs that print no test summary: they leave the number of test runs known.
QUIET = _words(
    "cd echo printf true false : exit set export source . tee tail head cat grep sed awk cut sort mkdir rm cp mv test"
    " [ sleep tsc eslint prettier ruff mypy black flake8 isort pip ls pwd date env unset umask ulimit which type wait"
    " kill curl jq tr uniq wc less ts chmod ln touch git buf protoc webpack vite esbuild rollup"
)
