# Functions for mvnw, demo and the scripts under load-tests. They print one line if the JDK is missing or too old, or if
# a first build has no network. Plain sh.

# Ends the script called $1 unless JAVA_HOME or the PATH leads to a JDK, 17 or later.
check_jdk() {
  if [ -n "${JAVA_HOME-}" ]; then
    checked_java="$JAVA_HOME/bin/java"
    [ -x "$checked_java" ] || checks_failed "$1" "found no JDK at JAVA_HOME ($JAVA_HOME)"
  else
    checked_java="$(command -v java)" || checks_failed "$1" "found no java on the PATH"
    checked_link="$(readlink -f "$checked_java" 2>/dev/null)" || checked_link=''
    [ -z "$checked_link" ] || checked_java="$checked_link"
  fi
  checked_home="${checked_java%/bin/java}"
  checked_version=''
  if [ -f "$checked_home/release" ]; then # avoids starting a JVM
    checked_version="$(sed -n 's/^JAVA_VERSION="\(1\.\)\{0,1\}\([0-9]*\).*/\2/p' "$checked_home/release")"
  fi
  if [ -z "$checked_version" ]; then
    checked_version="$("$checked_java" -version 2>&1 | sed -n 's/.*version "\(1\.\)\{0,1\}\([0-9]*\).*/\2/p')" || :
  fi
  [ -n "$checked_version" ] || checks_failed "$1" "cannot read the version of $checked_java"
  [ "$checked_version" -ge 17 ] || checks_failed "$1" "found Java $checked_version at $checked_home"
}

# Prints that the script $1 found no suitable JDK, and ends it. $2 describes the JDK that was found.
checks_failed() {
  echo "$1: $2, but Tern RPC needs JDK 17 or later; install one, or set JAVA_HOME to it" >&2
  exit 1
}

# Succeeds if this is the first build: the local repository $1 lacks libraries that the project needs.
is_first_build() {
  [ ! -d "$1/io/netty/netty-common" ] || [ ! -d "$1/org/springframework/boot/spring-boot" ]
}

# Succeeds if Maven, whose command is $1, can read the root project. The other arguments are those of the build.
can_read_project() {
  checked_maven="$1"
  shift
  checked_left=$#
  while [ "$checked_left" -gt 0 ]; do
    case "$1" in
    -s | --settings | -gs | --global-settings | -f | --file)
      set -- "$@" "$1" "${2-}"
      shift 2
      checked_left=$((checked_left - 2))
      ;;
    -D* | -o | --offline)
      set -- "$@" "$1"
      shift
      checked_left=$((checked_left - 1))
      ;;
    *)
      shift
      checked_left=$((checked_left - 1))
      ;;
    esac
  done
  "$checked_maven" -q -B -N "$@" validate >/dev/null 2>&1
}

# Prints one line about the missing network if Maven failed to download something into the repository $1.
explain_failed_downloads() {
  checked_missing="$(find "$1" -name '*.lastUpdated' 2>/dev/null | sed 's/\.lastUpdated$//; s|.*/||' | head -n 1)" || :
  [ -n "$checked_missing" ] || return 1
  echo "mvnw: could not download $checked_missing; the first build needs the network, so connect it, or name a reachable mirror in $HOME/.m2/settings.xml" >&2
}
