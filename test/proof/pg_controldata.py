"""Prints what Patroni reads of a control file of PostgreSQL 18, whose npm package has no pg_controldata: pg_controldata.py DATA."""

import struct
import sys

STATES = [
    "starting up",
    "shut down",
    "shut down in recovery",
    "shutting down",
    "in crash recovery",
    "in archive recovery",
    "in production",
]

with open(sys.argv[1] + "/global/pg_control", "rb") as file:
    control = file.read()


def read(form, offset):
    return struct.unpack_from("<" + form, control, offset)[0]


def location(offset):
    value = read("Q", offset)
    return f"{value >> 32:X}/{value & 0xFFFFFFFF:X}"


if read("I", 8) != 1800:
    sys.exit("The control file is not that of PostgreSQL 18.")
for name, value in {
    "pg_control version number": 1800,
    "Database system identifier": read("Q", 0),
    "Database cluster state": STATES[read("i", 16)],
    "Latest checkpoint location": location(32),
    "Latest checkpoint's REDO location": location(40),
    "Latest checkpoint's TimeLineID": read("I", 48),
    "Minimum recovery ending location": location(136),
    "Min recovery ending loc's timeline": read("I", 144),
    "max_connections setting": read("i", 180),
    "max_worker_processes setting": read("i", 184),
    "max_wal_senders setting": read("i", 188),
    "max_prepared_xacts setting": read("i", 192),
    "max_locks_per_xact setting": read("i", 196),
}.items():
    print(f"{name}: {value}")
