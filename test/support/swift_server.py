"""OpenStack Swift with its S3 API in one process: python3 swift_server.py FOLDER. Prints its port when it answers."""

import os
import sys

import eventlet

eventlet.monkey_patch()

from eventlet import listen, wsgi  # noqa: E402
from swift.common import utils  # noqa: E402

FOLDER = sys.argv[1]
ACCESS, SECRET = "test:tester", "testing"

SWIFT = """[swift-hash]
swift_hash_path_prefix = builder
swift_hash_path_suffix = api
"""

# On a loaded machine, a server may need longer than usual to respond, to which the proxy responds with 503.
PROXY = """[DEFAULT]
swift_dir = {folder}
bind_port = {port}
[pipeline:main]
pipeline = catch_errors gatekeeper s3api tempauth copy slo dlo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
node_timeout = 60
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:gatekeeper]
use = egg:swift#gatekeeper
[filter:s3api]
use = egg:swift#s3api
s3_acl = false
location = us-east-1
check_bucket_owner = false
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
[filter:copy]
use = egg:swift#copy
[filter:slo]
use = egg:swift#slo
[filter:dlo]
use = egg:swift#dlo
"""


class Quiet:
    def write(self, *_):
        pass


class Cache:
    """Stands for memcached, which authentication asks for."""

    def __init__(self):
        self.values = {}

    def get(self, key, *_, **__):
        return self.values.get(key)

    def set(self, key, value, *_, **__):
        self.values[key] = value

    def incr(self, key, delta=1, *_, **__):
        self.values[key] = max(0, int(self.values.get(key, 0)) + int(delta))
        return self.values[key]

    def delete(self, key, *_, **__):
        self.values.pop(key, None)


def ring(name, port):
    from swift.common.ring import RingBuilder

    builder = RingBuilder(4, 1, 0)
    builder.add_dev(
        {"id": 0, "zone": 0, "region": 1, "weight": 1, "ip": "127.0.0.1", "port": port, "device": "disk"}
    )
    builder.rebalance()
    builder.get_ring().save(os.path.join(FOLDER, name + ".ring.gz"))


def main():
    os.makedirs(os.path.join(FOLDER, "disk", "tmp"), exist_ok=True)
    with open(os.path.join(FOLDER, "swift.conf"), "w") as file:
        file.write(SWIFT)
    utils.SWIFT_CONF_FILE = os.path.join(FOLDER, "swift.conf")
    utils.validate_hash_conf()

    conf = {
        "devices": FOLDER,
        "swift_dir": FOLDER,
        "mount_check": "false",
        "fallocate_reserve": "0",
        "disable_fallocate": "true",
        "allow_versions": "false",
        "node_timeout": "60",
    }
    logger = utils.get_logger(conf, "swift", log_route="swift")
    from swift.account.server import AccountController
    from swift.container.server import ContainerController
    from swift.obj.server import ObjectController

    sockets = {name: listen(("127.0.0.1", 0)) for name in ("account", "container", "object")}
    for name, socket in sockets.items():
        ring(name, socket.getsockname()[1])
    apps = {
        "account": AccountController(conf),
        "container": ContainerController(conf),
        "object": ObjectController(conf, logger),
    }
    for name, server in apps.items():
        eventlet.spawn(wsgi.server, sockets[name], server, Quiet(), log_output=False)

    socket = listen(("127.0.0.1", 0))
    port = socket.getsockname()[1]
    path = os.path.join(FOLDER, "proxy.conf")
    with open(path, "w") as file:
        file.write(PROXY.format(folder=FOLDER, port=port))
    from swift.common.wsgi import SwiftHttpProtocol, loadapp

    proxy, cache = loadapp(path), Cache()

    def app(env, start_response):
        env["swift.cache"] = cache
        return proxy(env, start_response)

    print(port, flush=True)
    wsgi.server(socket, app, Quiet(), log_output=False, protocol=SwiftHttpProtocol)


main()
