package rigtest

// CopyEtc is shell text that copies all of /etc into the folder $1, which is there. A file that another test takes away or puts
// another one in place of meanwhile is left out; any other trouble fails.
const CopyEtc = `if ! trouble=$(LC_ALL=C cp -a /etc/. "$1" 2>&1); then
	if [ ! -e "$1/passwd" ] || printf '%s\n' "$trouble" | grep -qvE ': No such file or directory$|, as it was replaced while being copied$'; then
		printf 'copy /etc: %s\n' "$trouble" >&2
		exit 1
	fi
fi
`
