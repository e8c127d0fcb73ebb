# Process 1 of a container: lays the files in, runs one program, hands back what it changed.
# It is started before anybody knows what for. Standard input: a word, a line end; a line of arguments
# quoted for a shell; a tar; then frames for the program's port.
# Standard output: frames; the word and how it ended; a list of all files; a tar of the changed.
# The word tells our lines from the output of programs. One that looks for it in our memory can
# end its own stage with it, and say of its own files what it could have done to them.
umask 022
# The image's own settings may lead into the workspace, where programs are anybody's.
export LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
unset LD_PRELOAD LD_LIBRARY_PATH TAR_OPTIONS
newline='
'
IFS= read -r word && IFS= read -r said || exit
short() { printf %s "$1" | head -c 400 | tr '\n' ' '; }
end() { printf '%s%s\n' "$word" "$*"; exit 0; }
eval "set -- $said"
size=$1 seconds=$2 keep=$3 path=$4 forwards=$5 program=$6
shift 6
cd /evalgate || end setup "there is no /evalgate"
# Tools that do not know an option are told apart afterwards: asking all of them first takes longer.
lacks() { "$@" >/dev/null 2>&1 || end setup "the image has no GNU $1"; }
said=$(head -c "$size" | tar --hard-dereference -xpf - 2>&1) || {
  lacks tar --hard-dereference --version
  end setup "$(short "$said")"
}
# What an image holds of the workspace goes below what is laid, which wins: a file or link of it
# also over a directory, and a directory of it over what is none, so that nothing goes through it.
lay_over() {
  mv repo laid && mkdir repo && cp -dR --preserve=mode,timestamps /evalgate-base/. repo/ || return
  (cd laid && find . -mindepth 1 -exec sh -c '
    cd ../repo || exit
    for path; do
      if [ -d "../laid/$path" ] && [ ! -L "../laid/$path" ]; then
        { [ -d "$path" ] && [ ! -L "$path" ]; } || rm -f "$path" || exit
      elif [ -d "$path" ] && [ ! -L "$path" ]; then
        rm -rf "$path" || exit
      fi
    done' sh {} +) || return
  cp -dlR --remove-destination laid/. repo/ && rm -rf laid
}
if [ -d /evalgate-base ]; then
  lacks find / -maxdepth 0 -newerct @0 -printf x
  mkdir -p repo && said=$(lay_over 2>&1) || end setup "$(short "$said")"
fi
began=$(date +%s%N)
case $began in ???????????????????) ;; *) end setup "the image has no GNU date" ;; esac
cd repo || end setup "there is no repository"

# Looked at before: afterwards its absence and an exit code of 127 are the same.
found=$(
  case $program in
    */*) path=. ;;
    *) IFS=: ;;
  esac
  for folder in $path; do
    place=$folder/$program
    [ "$folder" = . ] && place=$program
    if [ -x "$place" ] && [ ! -d "$place" ]; then printf %s "$place"; break; fi
  done
)
[ -n "$found" ] || end missing "$program: no such program"
if [ "$(head -c 2 "$found")" = '#!' ]; then
  interpreter=$(head -n 1 "$found" | tr -d '\0' | sed 's/^#![ \t]*//; s/[ \t].*//')
  [ -x "$interpreter" ] || end missing "$program: its interpreter $interpreter is missing"
fi

# All files by number and name: one that is there under another in the end is sent as well, also
# when it is as old as before, since the folder it lies in was moved.
(cd /evalgate && find $keep -newerct @0 -iname .git -prune -o \
  \( -type f -o -type l \) -printf '%i %p\0') >/tmp/.evalgate-before 2>/dev/null ||
  lacks find / -maxdepth 0 -newerct @0 -printf x
exec 9</tmp/.evalgate-before && rm /tmp/.evalgate-before
# The clock of files is coarse: whatever is changed from here on is to be younger than began.
from=$(date +%s%N)
[ $((from - began)) -ge 10000000 ] || { sleep 0.01; from=$(date +%s%N); }
printf '%sbegun\n' "$word"
if [ "$forwards" = yes ]; then
  timeout -s KILL "$seconds" env -i "$@" 9<&-
else
  timeout -s KILL "$seconds" env -i "$@" </dev/null >&2 9<&-
fi
code=$?
# All but this process are ended, wherever they went. While the signal is ignored the kernel buries
# them by itself: as long as they count as processes, nothing might be started here.
trap '' CHLD
left=20000
while kill -9 -1 2>/dev/null && [ $left -gt 0 ]; do left=$((left - 1)); done
trap - CHLD
took=$((($(date +%s%N) - from) / 1000000))

cd /evalgate || end setup "/evalgate is gone"
printf '%sended %s %s\n' "$word" "$code" "$took"
exec 3>&1 2>/dev/null
began=${began%?????????}.${began#"${began%?????????}"}
# One walk: makes readable what is not, lists all on the standard output, and numbers and names
# what may have to be sent, with the word for a number where it is younger than began. Sorted with
# the numbers of before, twice each, what is there only once is to be sent.
{
  find $keep \( -type d ! -perm -700 -exec chmod u+rwx {} \; \
    -o -type f ! -perm -400 -exec chmod u+r {} + \) , -iname .git -prune -o \
    \( -newerct "@$began" -printf + \
    \( ! -type f ! -type l -o -fprintf /proc/self/fd/4 "$word %p\\0" \) -o -printf - \
    \( ! -type f ! -type l -o -fprintf /proc/self/fd/4 '%i %p\0' \) \) -printf '%y %m %s %p\0' 4>&1 >&3
  [ $? -le 1 ] || exit # it was killed: what it listed is not all
  printf '\0' >&3
} | sort -z -k2 /proc/self/fd/9 /proc/self/fd/9 - | uniq -zu | sed -z 's/^[^ ]* //' |
  tar --null --no-recursion --hard-dereference -T - -cf -
