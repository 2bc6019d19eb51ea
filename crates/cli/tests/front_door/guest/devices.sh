# What every script of the guest begins with: /tests is tapewise, and every step of it says its exit code.
t() {
    echo "guest: tapewise $*"
    /tests "$@" 2>&1
    echo "guest: code $? of $1 $2"
}
cd /tmp
drive= robot=
for sg in /sys/class/scsi_generic/sg*; do
    case $(cat "$sg/device/type") in
        1) drive=/dev/$(basename "$sg") ;;
        8) robot=/dev/$(basename "$sg") ;;
    esac
done
echo "guest: drive $drive, robot $robot"
