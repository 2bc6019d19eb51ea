# 1 GiB through Linux's st driver by dd: 8 files of 128 MiB, in blocks of 256 KiB and with a filemark after each.
t library mount "$robot" TW0001
t drive load "$drive"
tape() { mt -f /dev/nst0 "$@"; }
place() { echo "guest: place: $(tape tell)"; }
# What dd reads up to the next filemark, which it reads too.
sum() { echo "guest: sum $1 $(dd if="$2" bs=256k $3 2>/dev/null | md5sum)"; }
tape setblk 0
dd if=/dev/urandom of=file bs=1M count=128 2>/dev/null
for n in $(seq 8); do
    # Every file begins with its number, and so has a sum of its own.
    echo "file $n" | dd of=file conv=notrunc 2>/dev/null
    sum written file
    dd if=file of=/dev/nst0 bs=256k 2>/dev/null || echo "guest: not written: $n"
done
# The second half of the last file.
sum written file skip=256
place
tape rewind
for n in $(seq 8); do sum read /dev/nst0; done
# By filemarks, on and back.
tape rewind
tape fsf 5
place
sum found /dev/nst0
tape bsf 5
tape fsf 1
sum found /dev/nst0
# By block: the fourth file begins after three times 512 blocks and a filemark.
tape seek 1539
sum found /dev/nst0
# By blocks, on and back: the last file begins with block 3591.
tape seek 3591
tape fsr 300
tape bsr 44
place
sum found /dev/nst0
tape eom
place
