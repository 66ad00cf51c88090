# Shared by the scripts of this folder: words, finding Python, an environment made from a lock. Sourced by bash.
# shellcheck shell=bash

# Installing must not depend on what the caller's shell has set for other projects.
unset PYTHONHOME PYTHONPATH VIRTUAL_ENV PIP_USER PIP_TARGET PIP_PREFIX PIP_REQUIRE_VIRTUALENV
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1

note() { printf '%s\n' "$*" >&2; }

# die <what is wrong> [<the way out>]
die() {
    note "error: $1"
    [ -z "${2-}" ] || note "fix: $2"
    exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# Prints a Python of at least 3.11 that can make environments; $PYTHON decides when it is set.
find_python() {
    local name
    for name in ${PYTHON:+"$PYTHON"} python3 python3.14 python3.13 python3.12 python3.11 python; do
        # Asked, not looked up: a name on the PATH may be a shim without anything behind it.
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
            "$name" -c 'import sys; print(sys.executable)'
            return
        fi
        [ "$name" != "${PYTHON-}" ] || die "PYTHON=$name is not a Python of at least 3.11"
    done
    die "no Python of at least 3.11 is on the PATH" "install python3, or name one: PYTHON=/path/to/python3 $0"
}

# make_venv <python> <folder>: also where Debian's python3-venv is missing; nothing is installed outside the folder.
make_venv() {
    local python=$1 folder=$2
    "$python" -c 'import venv' 2>/dev/null ||
        die "$python has no venv module" "install python3-venv (Debian, Ubuntu), or name another: PYTHON=/path/to/python3 $0"
    if "$python" -c 'import ensurepip' 2>/dev/null && "$python" -m venv --clear "$folder" 2>/dev/null; then
        return
    fi
    note "$python comes without ensurepip; taking pip from Debian's packages"
    "$python" -m venv --clear --without-pip "$folder"
    _pip_from_debian "$folder"
}

# Puts pip into an environment from the package python3-pip-whl, unpacked beside it; needs no root.
_pip_from_debian() {
    local folder=$1 work wheel
    local fix="install python3-venv (apt-get install python3-venv), or name another: PYTHON=/path/to/python3 $0"
    if ! has apt-get || ! has dpkg-deb; then die "there is no ensurepip and no apt-get" "$fix"; fi
    work="$folder/.pip-from-debian"
    mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
    (
        cd "$work"
        # Private lists: the machine's own may be empty, and only root may fetch them.
        set -- -qq -o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work/cache" -o APT::Sandbox::User=
        apt-get "$@" update && apt-get "$@" download python3-pip-whl && dpkg-deb -x python3-pip-whl_*.deb .
    ) >"$work/log" 2>&1 || { cat "$work/log" >&2 && die "pip could not be taken from Debian's packages" "$fix"; }
    wheel=$(find "$work" -name 'pip-*.whl' | head -n 1)
    [ -n "$wheel" ] || die "the package python3-pip-whl holds no wheel of pip" "$fix"
    "$folder/bin/python" "$wheel/pip" install --quiet --no-index --no-cache-dir "$wheel"
    rm -rf "$work"
}

# digest <python> <file...>: one word that changes with the content of the files.
digest() {
    "$1" -c 'import hashlib, sys; print(hashlib.sha256(b"\0".join(open(p, "rb").read() for p in sys.argv[1:])).hexdigest())' "${@:2}"
}

# install_locked <venv> <lock...>: exactly the locked versions, every file checked against its hash.
install_locked() {
    local venv=$1 lock
    local arguments=()
    shift
    for lock in "$@"; do arguments+=(-r "$lock"); done
    "$venv/bin/python" -m pip install -qq --require-hashes --only-binary :all: "${arguments[@]}" ||
        die "the packages of $* could not be installed" "see pip's message above; the scripts need a Python package registry"
}

# ensure_checkout_venv <root>: `.venv` with the locked packages and this checkout; remade when the lock changed.
ensure_checkout_venv() {
    local root=$1 venv="$1/.venv" python wanted
    python=$(find_python)
    # The folder is part of it: an environment that was moved or copied along does not work.
    wanted="$(digest "$python" "$root/requirements-dev.lock") $("$python" -V) $venv"
    if [ "$(cat "$venv/.made-from" 2>/dev/null)" != "$wanted" ] || ! "$venv/bin/python" -c '' 2>/dev/null; then
        note "making $venv from requirements-dev.lock"
        make_venv "$python" "$venv"
        install_locked "$venv" "$root/requirements-dev.lock"
        printf '%s\n' "$wanted" >"$venv/.made-from"
    fi
    wanted=$(digest "$python" "$root/pyproject.toml")
    if [ "$(cat "$venv/.checkout-from" 2>/dev/null)" != "$wanted" ]; then
        "$venv/bin/python" -m pip install -qq --no-index --no-deps --no-build-isolation --editable "$root" ||
            die "this checkout could not be installed into $venv"
        printf '%s\n' "$wanted" >"$venv/.checkout-from"
    fi
}
