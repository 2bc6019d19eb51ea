# Programs that know nothing of tapewise, on Linux's st driver: their words are kept, line by line, in judges.txt.
t library mount "$robot" TW0004
t drive load "$drive"
judge() {
    echo "judge: \$ $*"
    sh -c "$*" > words 2>&1
    code=$?
    sed 's/^/judge: /' words
    echo "judge: [$code]"
}
tape="/with/mt-st -f /dev/nst0"
echo "judge: # $(/with/mt-st --version | head -n 1)"
echo "judge: # $(/with/tar --version | head -n 1)"
judge $tape status
judge $tape setblk 0
for n in 1 2 3; do judge /with/tar -cf /dev/nst0 reel/$n; done
judge $tape status
judge $tape tell
judge $tape rewind
judge $tape status
judge $tape tell
judge $tape fsf 2
judge $tape tell
judge /with/tar -tf /dev/nst0
judge $tape bsf 1
judge $tape bsf 1
judge $tape fsf 1
judge /with/tar -tf /dev/nst0
judge $tape seek 5
judge $tape tell
judge $tape fsr 2
judge $tape bsr 1
judge $tape tell
judge $tape eod
judge $tape status
judge $tape tell
judge $tape fsf 1
judge $tape rewind
judge $tape bsr 1
t drive unload "$drive"
t library dismount "$robot" TW0004
t library mount "$robot" TW0001
t drive load "$drive"
rmmod sg
echo "guest: without sg: $(/tests drive check /dev/nst0 --quick -o none.json 2>&1 | tr '\n' ' ')"
# The driver refuses the second partition until it is told that there are some.
/with/mt-st -f /dev/nst0 stsetoptions can-partitions
t recall --profile lto8 --ltfs /dev/nst0 --to without --all-files
(cd without && find . -name '*.bin' | sort | xargs sha256sum | sed "s/^/guest: sum without /")
