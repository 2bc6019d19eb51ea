# 1 GiB through Linux's st driver by dd: 16 files of 64 MiB in blocks of 1 MiB, each with bytes of its own.
t library mount "$robot" TW0001
t drive load "$drive"
tape() { mt -f /dev/nst0 "$@"; }
tape setblk 0
dd if=/dev/urandom of=piece bs=1M count=63 2>/dev/null
# The first MiB of a file is its number, 128 Ki times.
file() { yes $(printf %07d $1) | dd bs=1M count=1 iflag=fullblock 2>/dev/null; cat piece; }
for n in $(seq 16); do file $n | dd of=/dev/nst0 ibs=64k obs=1M 2>/dev/null || echo "guest: not written: $n"; done
echo "guest: after writing: $(tape tell)"
same() { # NUMBER: the file at which the tape stands
    [ "$(dd if=/dev/nst0 bs=1M 2>/dev/null | md5sum)" = "$(file $1 | md5sum)" ] && echo "guest: the same $1"
}
tape rewind
for n in $(seq 16); do same $n; done
tape rewind
tape fsf 11
echo "guest: after 11 filemarks: $(tape tell)"
same 12
# Behind file 12, of which dd has read the filemark: its own mark, and those of 11 and 10, back; one on.
tape bsf 3
tape fsf 1
same 11
# A file is 64 blocks and a filemark: block 195 is the first of the fourth.
tape seek 195
same 4
tape eom
echo "guest: at the end: $(tape tell)"
