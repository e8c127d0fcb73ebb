# Makes of a task's image one that trials can run in: as root, at the end of its build.
# The files of its WORKDIR are the workspace, which lies in memory in every trial: they are put
# aside, what programs installed there apart from the task's own files, and links lead to it.
files=/evalgate-files base=/evalgate-base
mkdir -p "$base"
case $workdir in
  / | '' ) ;;
  *)
    cd /
    if [ -d "$workdir" ]; then mv "$workdir" "$files"; fi
    mkdir -p "$files" "$(dirname "$workdir")"
    ln -s /evalgate/repo "$workdir"
    cd "$files"
    find . -name .git -prune -exec rm -rf {} +
    find . \( -name node_modules -o -name .venv -o -name venv \) -type d -prune -exec sh -c '
      for folder; do
        mkdir -p "$0/${folder%/*}" && mv "$folder" "$0/$folder" || exit
      done' "$base" {} +
    ;;
esac
cd /
for link in tests:tests solution:inbox logs:logs; do
  rm -rf "/${link%:*}"
  ln -s "/evalgate/${link#*:}" "/${link%:*}"
done
[ -e /app ] || [ -L /app ] || ln -s /evalgate/repo /app
mkdir -p "$files"
chmod -R u+w,a+rX "$files" "$base"
grep -q ':1000:' /etc/passwd || echo 'agent:x:1000:1000::/evalgate/home:/bin/sh' >>/etc/passwd
rm -f /tmp/evalgate-layer
