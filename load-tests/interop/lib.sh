# Common functions, sourced by the scripts of this folder. Each script runs one suite against a server at host:port:
#
#   begin h2spec "$@"               names the suite, reads host:port
#   run_case NAME COMMAND ...       counts a case; it fails if the command fails or takes longer than CASE_SECONDS
#   expect NAME REGEX COMMAND ...   counts a case; it fails if the command's output does not match
#   result NAME ok|failed           counts a case that another program ran
#   finish [EXPECTED]               compares with known-failures.txt and prints the summary
#
# A suite exits with 0 if its results match known-failures.txt, with 1 if not, and with 2 if it could not run.
# shellcheck shell=bash disable=SC2034
set -euo pipefail

interop="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
root="$(cd "$interop/../.." && pwd)"
. "$root/.mvn/checks.sh"
check_jdk load-tests/interop
tools="$root/load-tests/target/interop" # contains everything that is installed or written; ignored by git
protos="$interop/src/main/protobuf"
KNOWN_FAILURES="${KNOWN_FAILURES:-$interop/known-failures.txt}"
CASE_SECONDS="${CASE_SECONDS:-60}"

die() {
    printf '%s: %s\n' "${suite:-$(basename "$0")}" "$1" >&2
    exit 2
}

need() { # arguments: program, advice if it is missing
    command -v "$1" >/dev/null || die "needs $1 on the path; $2"
}

# Begins a suite. The arguments are the name of the suite and the arguments of its script (host:port).
begin() {
    suite="$1"
    if [[ $# -ne 2 || ! "$2" =~ ^([^:]+):([0-9]{1,5})$ ]]; then
        printf 'Usage: %s host:port\n' "$0" >&2
        exit 2
    fi
    host="${BASH_REMATCH[1]}"
    port="${BASH_REMATCH[2]}"
    wait_for_server
    start_counting
}

# Waits for the server, which may still be starting.
wait_for_server() {
    local tries
    for ((tries = 0; tries < 100; tries++)); do
        (exec 3<>"/dev/tcp/$host/$port") 2>/dev/null && return
        sleep 0.2
    done
    die "nothing listens at $host:$port"
}

start_counting() {
    mkdir -p "$tools/logs"
    log="$tools/logs/$suite.log"
    failed="$tools/logs/$suite.failed"
    : >"$log"
    : >"$failed"
    total=0
}

result() { # arguments: case, ok or failed
    total=$((total + 1))
    if [[ "$2" != ok ]]; then
        printf '%s\n' "$1" >>"$failed"
    fi
}

run_case() { # arguments: case, command ...
    local name="$1"
    shift
    printf '\n== %s\n' "$name" >>"$log"
    if timeout --kill-after=5 "$CASE_SECONDS" "$@" >>"$log" 2>&1 </dev/null; then
        result "$name" ok
    else
        printf '== %s ended with %s\n' "$name" "$?" >>"$log"
        result "$name" failed
    fi
}

expect() { # arguments: case, extended regular expression whose dot also matches a line feed, command ...
    local name="$1" wanted="$2" output
    shift 2
    output="$(timeout --kill-after=5 "$CASE_SECONDS" "$@" 2>&1 </dev/null)" || true
    printf '\n== %s\n%s\n' "$name" "$output" >>"$log"
    if [[ "$output" =~ $wanted ]]; then
        result "$name" ok
    else
        printf '== %s: expected %s\n' "$name" "$wanted" >>"$log"
        result "$name" failed
    fi
}

# Runs a client that prints "ok CASE" or "failed CASE REASON" for each case, then calls finish. If the client itself
# fails, the case "ended" counts as failed.
run_client() { # arguments: number of cases, command ...
    local verdict name _ output="$tools/logs/$suite.out"
    if ! timeout --kill-after=5 300 "${@:2}" >"$output" 2>>"$log" </dev/null; then
        result ended failed
    fi
    cat "$output" >>"$log"
    while read -r verdict name _; do
        case "$verdict" in
            ok | failed) result "$name" "$verdict" ;;
        esac
    done <"$output"
    finish "$1"
}

# Prints "suite passed/total". If the expected number of cases is given, the suite fails unless exactly this number of
# cases ran.
finish() {
    local known unexpected gone bad status=0
    bad=$(sort -u "$failed" | wc -l)
    known="$(awk -F'\t' -v suite="$suite" '!/^#/ && $1 == suite {print $2}' "$KNOWN_FAILURES" | sort -u)"
    unexpected="$(comm -23 <(sort -u "$failed") <(printf '%s\n' "$known"))"
    gone="$(comm -13 <(sort -u "$failed") <(printf '%s\n' "$known") | sed '/^$/d')"
    if [[ -n "$unexpected" ]]; then
        printf '%s: failed, and not in %s (%d; see %s):\n%s\n' "$suite" "${KNOWN_FAILURES##*/}" \
            "$(wc -l <<<"$unexpected")" "$log" "$(head -20 <<<"$unexpected")" >&2
        status=1
    fi
    if [[ -n "$gone" ]]; then
        printf '%s: passes, remove it from %s:\n%s\n' "$suite" "${KNOWN_FAILURES##*/}" "$gone" >&2
        status=1
    fi
    if [[ $total -eq 0 || $total -ne "${1:-$total}" ]]; then
        printf '%s: %d cases ran; expected %s\n' "$suite" "$total" "${1:-one or more}" >&2
        status=1
    fi
    printf '%s %d/%d\n' "$suite" $((total - bad)) "$total"
    return "$status"
}

# Installs a Go program once and prints its path.
go_tool() { # argument: package@version
    need go "install Go, https://go.dev/dl"
    local folder="$tools/go/${1//[^A-Za-z0-9.]/-}" package="${1%@*}"
    local program="$folder/${package##*/}"
    if [[ ! -x "$program" ]]; then
        printf 'Installing %s ...\n' "$1" >&2
        GOBIN="$folder" go install "$1" >"$tools/install.log" 2>&1 ||
            die "go install $1 failed: $(tail -3 "$tools/install.log")"
    fi
    printf '%s\n' "$program"
}

grpcurl_tool() {
    go_tool github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.4
}

# Installs Python with the packages of clients/python/requirements.txt once, and prints its path.
python_tool() {
    need python3 "install Python 3.9 or later"
    local folder="$tools/python" wanted="$interop/clients/python/requirements.txt"
    if ! cmp -s "$wanted" "$folder/installed.txt"; then
        printf 'Installing %s ...\n' "$(tr '\n' ' ' <"$wanted")" >&2
        rm -rf "$folder"
        { python3 -m venv "$folder" && "$folder/bin/pip" install -q -r "$wanted"; } >"$tools/install.log" 2>&1 ||
            die "pip install failed: $(tail -3 "$tools/install.log")"
        cp "$wanted" "$folder/installed.txt"
    fi
    printf '%s\n' "$folder/bin/python"
}

# Installs the packages of a folder's package.json and prints the folder of its node_modules.
node_modules() { # argument: folder below clients
    need node "install Node 20 or later"
    need npm "install Node 20 or later, with npm"
    local folder="$tools/node-$1" wanted="$interop/clients/$1/package.json"
    if ! cmp -s "$wanted" "$folder/installed.json"; then
        printf 'Installing the packages of %s ...\n' "clients/$1/package.json" >&2
        rm -rf "$folder"
        mkdir -p "$folder"
        cp "$wanted" "$folder/package.json"
        (cd "$folder" && npm install --no-audit --no-fund --no-package-lock) >"$tools/install.log" 2>&1 ||
            die "npm install failed: $(tail -3 "$tools/install.log")"
        cp "$wanted" "$folder/installed.json"
    fi
    printf '%s\n' "$folder/node_modules"
}

java_program() {
    printf '%s\n' "${JAVA_HOME:+$JAVA_HOME/bin/}java"
}

# Builds gRPC's own Java client and server for these suites and prints their class path.
grpc_java() {
    local folder="$tools/grpc-java" wanted="$interop/grpc-java/pom.xml"
    if ! cmp -s "$wanted" "$folder/installed.xml"; then
        printf 'Installing gRPC for Java ...\n' >&2
        rm -rf "$folder"
        mkdir -p "$folder"
        "$root/mvnw" -q -B -ntp -f "$wanted" dependency:copy-dependencies \
            -DincludeScope=runtime -DoutputDirectory="$folder/lib" >"$tools/install.log" 2>&1 ||
            die "Maven could not get the libraries of $wanted: $(tail -3 "$tools/install.log")"
        cp "$wanted" "$folder/installed.xml"
    fi
    printf '%s\n' "$folder/lib/*"
}

# Builds the programs of the module load-tests/interop and prints their class path.
tern_programs() {
    (cd "$root" && ./mvnw -q -B -ntp -pl load-tests/interop -am -DskipTests package) \
        >"$tools/install.log" 2>&1 || die "the build failed: $(tail -5 "$tools/install.log")"
    printf '%s\n' "$interop/target/classes:$interop/target/lib/*"
}

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# Starts a server in the background and waits until it prints a line with the text. The server ends when the script
# ends.
start_server() { # arguments: log file, text, command ...
    local output="$1" text="$2"
    shift 2
    : >"$output"
    "$@" >"$output" 2>&1 </dev/null &
    server_pid=$!
    trap 'kill "$server_pid" 2>/dev/null || true' EXIT
    local tries
    for ((tries = 0; tries < 300; tries++)); do
        grep -q "$text" "$output" && return
        kill -0 "$server_pid" 2>/dev/null || break
        sleep 0.2
    done
    die "the server did not start: $(tail -3 "$output")"
}
