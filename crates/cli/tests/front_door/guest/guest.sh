# What the program does in a Linux of its own, with that one's sg, st and ch drivers. `sum` lines are of what came back.
t library inventory "$robot"
t library mount "$robot" TW0001
t drive load "$drive"
t drive status "$drive" --active
t drive status /dev/nst0 --active
t recall --ltfs "$drive" --to sg --all-files --events sg.jsonl
t recall --ltfs /dev/nst0 --to st --all-files --events st.jsonl
printf '1.bin\n2.bin\n' > names
t recall --ltfs "$drive" --to some --files-from names
sed 's/$/#1000+5000/' names > ranges
t recall --ltfs "$drive" --to parts --files-from ranges --ranges
# A mounted LTFS volume, played by a file system whose files have its attributes.
mkdir volume
mount -t ext4 -o loop,ro /with/volume.img volume
t recall --profile lto8 --ltfs-mount volume --to mount --all-files
for way in sg st mount; do (cd $way && find . -name '*.bin' | sort | xargs sha256sum | sed "s/^/guest: sum $way /"); done
t drive unload "$drive"
t library dismount "$robot" TW0001
t library mount "$robot" TW0002
t drive load "$drive"
t drive check "$drive" --quick -o report.json
t drive map "$drive" -o a.map
t measure "$drive" -o log.jsonl --quick --only mount,seek-mid
t drive unload "$drive"
t library dismount "$robot" TW0002
mkdir reel
for n in 1 2 3; do head -c 100000 /dev/urandom > reel/$n; done
t catalog init A --drive "$drive" --changer "$robot" --profile lto8 --block-size 65536 --segment-size 1048576 \
    --cache-gb 0.1 --volumes 'TW0003*'
t store --archive A reel
mv A/events.jsonl store.jsonl
t catalog verify --archive A TW0003
mv A/events.jsonl verify.jsonl
for n in 1 2 3; do echo reel/$n; done > list
# Nothing is left in the cache, so that the files come from the tape.
rm -r A/cache/*
t recall --archive A --files-from list --pull-list
t recall --archive A --to out --files-from list
# The times that the host measured, in the order of the verbs.
events() { echo "guest: verb $1"; sed 's/^/guest: event /'; }
events "recall --ltfs over sg" < sg.jsonl
events "recall --ltfs over st" < st.jsonl
{ tr -d '\n' < report.json; echo; } | events "drive check"
events "measure" < log.jsonl
events "store" < store.jsonl
events "catalog verify" < verify.jsonl
events "recall --archive" < A/events.jsonl
for n in 1 2 3; do cmp reel/$n out/reel/$n && echo "guest: the same $n"; done
