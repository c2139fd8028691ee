# What the scripts that make images of Java programs share; they source it. An image
# made here holds a Java runtime, jars, and the C libraries under both: neither a
# shell nor anything else. $self is the name of the script in what it says.

say() { printf '%s: %s\n' "$self" "$*" >&2; }
fail() { say "$*"; exit 1; }

[ "$(uname -s)" = Linux ] || fail "this makes images on Linux only; elsewhere use the official image."
command -v docker >/dev/null || fail "the docker command is missing; install Docker (Debian: apt-get install docker.io)."
docker version >/dev/null 2>&1 || fail "no Docker engine answers; start one, or set DOCKER_HOST."
java=$(readlink -f "${JAVA_HOME:+$JAVA_HOME/bin/java}" || true)
[ -x "$java" ] || java=$(readlink -f "$(command -v java)") || fail "Java is missing: scripts/ensure-zookeeper"
home=$(dirname "$(dirname "$java")")

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/opt" "$root/tmp" "$root/etc"
echo 'root:x:0:0:root:/:/none' >"$root/etc/passwd"

# add_java MODULES puts a Java into /opt/jre, cut down to the modules with jlink where
# there is one, and the libraries under it at the paths where its programs look.
add_java() {
	if [ -x "$home/bin/jlink" ] && [ -d "$home/jmods" ]; then
		"$home/bin/jlink" --add-modules "$1" --strip-debug --no-header-files --no-man-pages --output "$root/opt/jre"
	else
		say "no jlink beside $java: the image will hold the whole Java runtime"
		cp -RL "$home" "$root/opt/jre"
	fi
	for library in $(libraries | grep -o '/[^ ]*' | grep -v ':$' | sort -u); do
		case $library in "$root"*) continue ;; esac
		mkdir -p "$root$(dirname "$library")"
		cp -L "$library" "$root$library"
	done
}

libraries() { find "$root/opt/jre" -name '*.so' -exec ldd {} + 2>/dev/null; ldd "$root/opt/jre/bin/java"; }

# import NAME CHANGE... makes the image, with settings in the words of a Dockerfile.
import() {
	name=$1
	shift
	for change; do
		set -- "$@" --change "$change"
		shift
	done
	tar -C "$root" -c . | docker import "$@" - "$name" >/dev/null
	say "$name is $(docker image inspect --format '{{.Size}}' "$name" | awk '{printf "%.0f MB", $1 / 1e6}')"
}
