#!/bin/sh
# Runs a command as the first process of a container: a root file system of its own, what is mounted into it, a user
# without any privilege. Its caller gives it namespaces for mounts, processes and the network.
#   container.sh ROOT FOLDER USER READ_ONLY WORKDIR MOUNTS COMMAND...
# FOLDER takes the changes to the root. MOUNTS is a file with lines `tmpfs /path`, `rw /source /path`, `ro /source /path`.
set -eu
lower=$1 folder=$2 user=$3 read_only=$4 workdir=$5 mounts=$6
shift 6
mount --make-rprivate /
mount -t tmpfs changes "$folder"
mkdir "$folder/upper" "$folder/work" "$folder/root"
root=$folder/root
mount -t overlay overlay -o "lowerdir=$lower,upperdir=$folder/upper,workdir=$folder/work" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
[ "$lower" = / ] && mount -t tmpfs -o mode=755 run "$root/run"
while read -r kind source path; do
  [ "$kind" = tmpfs ] && path=$source
  if [ "$kind" = tmpfs ] || [ -d "$source" ]; then mkdir -p "$root$path"; else
    mkdir -p "$(dirname "$root$path")"
    rm -f "$root$path"
    touch "$root$path"
  fi
  case $kind in
    tmpfs) mount -t tmpfs -o mode=1777,noexec,nosuid,nodev tmpfs "$root$path" ;;
    *) mount --bind "$source" "$root$path" ;;
  esac
  if [ "$kind" = ro ]; then mount -o remount,bind,ro "$root$path"; fi
done <"$mounts"
if [ "$read_only" = yes ]; then mount -o remount,bind,ro "$root"; fi
cd "$root"
exec chroot "$root" /bin/sh -c 'cd "$1"; u=$2; shift 2; exec setpriv --reuid "$u" --regid "$(id -g "$u")" \
  --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all -- "$@"' sh "$workdir" "$user" "$@"
