# shellcheck shell=bash disable=SC2034
# Sourced by demo, check and .ci/run, which stand at the top of the source tree: installs the
# packages that are missing, and builds. What it says goes to stderr.

# Debian's packages, by what they are needed for.
build_packages=(gcc libc6-dev meson ninja-build pkg-config
    libglib2.0-dev libsmartcols-dev libsqlite3-dev libyaml-dev libzstd-dev)
check_packages=(check clang-format shellcheck)
ci_packages=(clang g++ gcovr libclang-rt-dev libsimgrid-dev llvm valgrind)

# What is needed of them where the system has no such package manager.
build_tools=(cc meson ninja pkg-config glib-compile-resources)
build_modules=(gio-2.0 libzstd smartcols sqlite3 yaml-0.1)

print_only=false

die() {
    printf '%s: %s\n' "$(basename "$0")" "$1" >&2
    exit 1
}

show() {
    printf '+%s\n' "$(printf ' %q' "$@")" >&2
}

# Shows a command, and runs it unless the user asked only to see.
run() {
    show "$@"
    $print_only || "$@"
}

# The same for a command whose output matters only when it fails.
run_quietly() {
    local said
    show "$@"
    $print_only || said=$("$@" 2>&1) || {
        printf '%s\n' "$said" >&2
        return 1
    }
}

missing_packages() {
    local package
    for package in "$@"; do
        [[ $(dpkg-query --show --showformat='${Status}' "$package" 2>/dev/null) == *' installed' ]] ||
            printf '%s\n' "$package"
    done
}

tools_are_there() {
    type "${build_tools[@]}" >/dev/null 2>&1 && pkg-config --exists "${build_modules[@]}" "$@"
}

apt_get() {
    local -a command=(env DEBIAN_FRONTEND=noninteractive apt-get --yes -o DPkg::Lock::Timeout=300)
    ((EUID == 0)) || command=(sudo "${command[@]}")
    run "${command[@]}" "$@" >&2
}

# install_missing PACKAGE...: does nothing when all are there. Who may not install goes on
# when the tools have come another way.
install_missing() {
    local -a missing modules=()
    if ! type dpkg-query apt-get >/dev/null 2>&1; then
        [[ " $* " != *' check '* ]] || modules=(check)
        tools_are_there "${modules[@]}" ||
            die "not a Debian system; install what it calls these packages: $*"
        return
    fi
    mapfile -t missing < <(missing_packages "$@")
    ((${#missing[@]} > 0)) || return 0
    if ((EUID != 0)) && ! type sudo >/dev/null 2>&1; then
        [[ " ${missing[*]} " != *' check '* ]] || modules=(check)
        tools_are_there "${modules[@]}" ||
            die "needs root or sudo once: apt-get install ${missing[*]}"
        printf 'goes on without: %s\n' "${missing[*]}" >&2
        return
    fi
    apt_get update
    apt_get install --no-install-recommends "${missing[@]}"
}

# Configures again where it was before, as meson then looks for libraries installed since.
build() {
    if [[ -e build/build.ninja ]]; then
        run_quietly meson setup --reconfigure build
    else
        run_quietly meson setup build
    fi
    run ninja -C build --quiet >&2
}

# take_options USAGE ARGUMENT...
take_options() {
    local usage=$1 argument
    shift
    for argument in "$@"; do
        case $argument in
        --print) print_only=true ;;
        --help | -h)
            printf '%s\n' "$usage"
            exit 0
            ;;
        *)
            printf '%s: unknown option %q\n%s\n' "$(basename "$0")" "$argument" "$usage" >&2
            exit 2
            ;;
        esac
    done
}
