tries=0
while [ ! -s "$mark/leader" ] && [ ! -e "$mark/result" ] && [ "$tries" -lt 3 ]; do
	sleep 1
	tries=$((tries + 1))
done
leader=
read -r leader 2>/dev/null <"$mark/leader"
if [ -e "$mark/result" ]; then
	say ended
elif [ -n "$leader" ] && watched && kill -s "$signal" -- "-$leader" 2>/dev/null; then
	say sent
else
	say unsent
fi
