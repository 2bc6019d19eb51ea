# The index of a made-up LTFS volume, SHOW_A to SHOW_D, with 2000 camera clips: awk -v tape=A -f docs/four-tapes.awk
BEGIN {
    number = index("ABCD", tape)
    printf "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ltfsindex version=\"2.4.0\">\n"
    printf "<volumeuuid>5005b061-f7af-46ed-9a6f-00000000000%d</volumeuuid>\n<generationnumber>7</generationnumber>\n", number
    printf "<location><partition>a</partition><startblock>5</startblock></location>\n"
    printf "<directory><name>SHOW_%s</name><contents>\n", tape
    block = 6
    for (clip = 1; clip <= 2000; clip++) {
        if (clip % 400 == 1) {
            if (clip > 1) printf "</contents></directory>\n"
            printf "<directory><name>day%d</name><contents>\n", int(clip / 400) + 1
        }
        # 2 to 8 GB each, 10 TB together.
        bytes = (2000 + (clip * 7919 + number * 104729) % 6000) * 1000000
        printf "<file><name>%s%03dC%04d.mov</name><length>%.0f</length><extentinfo><extent>", tape, int(clip / 100) + 1, clip, bytes
        printf "<fileoffset>0</fileoffset><partition>b</partition><startblock>%.0f</startblock>", block
        printf "<byteoffset>0</byteoffset><bytecount>%.0f</bytecount></extent></extentinfo></file>\n", bytes
        block += int((bytes + 524287) / 524288)
    }
    printf "</contents></directory>\n</contents></directory>\n</ltfsindex>\n"
}
