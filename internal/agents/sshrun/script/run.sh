if [ -e "$mark" ]; then
	look
	return
fi
if ! setsid=$(command -v setsid); then
	say 'refuse NoSetsid'
	return
fi
if [ ! -d "$directory" ]; then
	say 'refuse NoDirectory'
	return
fi
if ! cd "$directory" 2>/dev/null; then
	say 'refuse Directory'
	return
fi
if ! (variables; command -v "$1") >/dev/null 2>&1; then
	say 'refuse NoCommand'
	return
fi
if ! mkdir -p "$base" 2>/dev/null; then
	say 'refuse NoMarker'
	return
fi
# mkdir succeeds for only one process. From here on, this run counts as started.
if ! mkdir "$mark" 2>/dev/null; then
	if [ -e "$mark" ]; then
		look
	else
		say 'refuse NoMarker'
	fi
	return
fi
printf '%s %s\n' "$$" "$boot" >"$mark/supervisor"
sync "$mark" "$base" 2>/dev/null
begin=$(date +%s)
say started
printf '\n%s\n' "$word"
set -- "$setsid" "$@"
(
	variables
	unset PWD OLDPWD
	exec "$@"
) </dev/null 2>&1 &
leader=$!
echo "$leader" >"$mark/leader"
# The connection may break. The result is stored nevertheless.
trap '' HUP PIPE
wait "$leader"
code=$?
left=0
if kill -s TERM -- "-$leader" 2>/dev/null; then
	left=1
	tries=0
	while [ "$tries" -lt 2 ] && kill -s 0 -- "-$leader" 2>/dev/null; do
		sleep 1
		tries=$((tries + 1))
	done
	kill -s KILL -- "-$leader" 2>/dev/null
fi
stored="$code $begin $(date +%s) $left"
echo "$stored" >"$mark/next" && mv "$mark/next" "$mark/result"
say "end $stored"
# Markers of runs that ended long ago are not needed any more, because their pods are gone.
find "$base" -name result -mtime +90 2>/dev/null | while read -r old; do rm -rf "${old%/result}"; done
