# Sourced: lets this shell use what tools/setup.sh put into .deps.
asc_deps=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/.deps
case ":$PATH:" in
  *":$asc_deps/venv/bin:"*) ;;
  *) export PATH="$asc_deps/venv/bin:$PATH" ;;
esac
unset asc_deps
