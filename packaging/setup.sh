# Sourced by run, test and bench: makes .venv, installs a lock, adds missing system libraries on Debian-like systems.
# Needs: $root (the checkout), $lock (file name of the lock).

say() { printf '%s\n' "$*" >&2; }

venv="$root/.venv"
python="$venv/bin/python"

may_install() { command -v apt-get >/dev/null 2>&1 && { [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null; }; }

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi; }

# apt_install PACKAGE...: installs, or prints the one command to type and fails.
apt_install() {
    if may_install; then
        say "Installing system packages: $*"
        if as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" >/dev/null 2>&1; then
            return 0
        fi
        as_root apt-get update >/dev/null 2>&1
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" >/dev/null && return 0
    fi
    say "Some system packages are missing. Type this, then start again:"
    say "    sudo apt-get install -y $*"
    return 1
}

# has_library NAME: whether the loader knows a library. The list is read once: with pipefail, a grep that ends early
# would make the pipe fail.
has_library() {
    [ -n "${known_libraries:-}" ] || known_libraries=$(/sbin/ldconfig -p 2>/dev/null)
    case "$known_libraries" in *"	$1 "*) return 0 ;; esac
    return 1
}

# What Qt's xcb platform needs: library file and Debian package.
qt_libraries="
libEGL.so.1 libegl1
libGL.so.1 libgl1
libfontconfig.so.1 libfontconfig1
libdbus-1.so.3 libdbus-1-3
libglib-2.0.so.0 libglib2.0-0
libxkbcommon.so.0 libxkbcommon0
libxkbcommon-x11.so.0 libxkbcommon-x11-0
libX11-xcb.so.1 libx11-xcb1
libxcb-cursor.so.0 libxcb-cursor0
libxcb-icccm.so.4 libxcb-icccm4
libxcb-image.so.0 libxcb-image0
libxcb-keysyms.so.1 libxcb-keysyms1
libxcb-randr.so.0 libxcb-randr0
libxcb-render-util.so.0 libxcb-render-util0
libxcb-shape.so.0 libxcb-shape0
libxcb-xinerama.so.0 libxcb-xinerama0
libxcb-xkb.so.1 libxcb-xkb1
"

install_qt_libraries() {
    [ "$(uname -s)" = Linux ] && [ -x /sbin/ldconfig ] || return 0
    missing=""
    while read -r library package; do
        [ -n "$library" ] || continue
        has_library "$library" || missing="$missing $package"
    done <<EOF
$qt_libraries
EOF
    [ -z "$missing" ] && return 0
    command -v apt-get >/dev/null 2>&1 || { say "Qt needs these libraries:$missing"; return 0; }
    # shellcheck disable=SC2086
    apt_install $missing
}

good_python() { "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' 2>/dev/null; }

find_python() {
    for candidate in python3 python3.14 python3.13 python3.12 python3.11; do
        if command -v "$candidate" >/dev/null 2>&1 && good_python "$candidate"; then
            command -v "$candidate"
            return 0
        fi
    done
    return 1
}

make_venv() {
    [ -x "$python" ] && good_python "$python" && return 0
    rm -rf "$venv"
    if ! system_python=$(find_python); then
        command -v apt-get >/dev/null 2>&1 && ! command -v python3 >/dev/null 2>&1 && apt_install python3 python3-venv || true
        system_python=$(find_python) || { say "Superstep Studio needs Python 3.11 to 3.14; none was found."; return 1; }
    fi
    say "Making a virtual environment with $("$system_python" --version)"
    if command -v uv >/dev/null 2>&1; then
        uv venv --quiet --python "$system_python" "$venv"
        return
    fi
    if ! "$system_python" -m venv "$venv" >/dev/null 2>&1; then
        rm -rf "$venv"
        apt_install python3-venv || return 1
        "$system_python" -m venv "$venv"
    fi
}

install_lock() {
    stamp="$venv/.installed-$lock"
    wanted=$(cat "$root/packaging/$lock" "$root/pyproject.toml" | cksum)
    [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ] && return 0
    say "Installing the locked dependencies (this takes a minute the first time)"
    if command -v uv >/dev/null 2>&1; then
        uv pip install --quiet --python "$python" --require-hashes -r "$root/packaging/$lock" &&
            uv pip install --quiet --python "$python" --no-deps --no-build-isolation -e "$root"
    else
        "$python" -m pip install --quiet --disable-pip-version-check --require-hashes -r "$root/packaging/$lock" &&
            "$python" -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e "$root"
    fi || { say "The dependencies could not be installed; is there a network for the first start?"; return 1; }
    printf '%s' "$wanted" >"$stamp"
}
