#!/usr/bin/env bash
# Copies the data of the primary for a new replica of Patroni, in place of pg_basebackup: copy-replica.sh --password=… --datadir=… --connstring=…
set -euo pipefail
for argument; do
  case $argument in
    --password=*) export PGPASSWORD=${argument#*=} ;;
    --datadir=*) to=${argument#*=} ;;
    --connstring=*) port=$(grep -oP '(port=|:)\K\d+' <<<"$argument" | head -1) ;;
  esac
done
query=(psql -h 127.0.0.1 -p "$port" -U postgres -d postgres -v ON_ERROR_STOP=1 -qAt)
from=$("${query[@]}" -c 'show data_directory')
mkdir -m 700 "$to"
"${query[@]}" <<SQL
select pg_backup_start('replica', fast => true);
\! tar -C $from --warning=no-file-changed --exclude=./pg_wal/* --exclude=./postmaster.* --exclude=./pg_replslot/* -cf - . | tar -C $to -xpf -
\o $to/backup_label
select labelfile from pg_backup_stop(false);
SQL
