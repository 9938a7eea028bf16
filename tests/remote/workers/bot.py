"""A worker of BuildGrid: takes leases of the Remote Workers API, runs their commands, and stores what they write.

BuildGrid is a scheduler alone; its usual worker, buildbox-worker, is in no package. Messages are those of the `buildgrid`
package. Usage: bot.py HOST:PORT INSTANCE NAME
"""

import hashlib
import os
import subprocess
import sys
import tempfile

import grpc
from buildgrid._protos.build.bazel.remote.execution.v2 import remote_execution_pb2 as re
from buildgrid._protos.build.bazel.remote.execution.v2 import remote_execution_pb2_grpc as re_grpc
from buildgrid._protos.google.bytestream import bytestream_pb2, bytestream_pb2_grpc
from buildgrid._protos.google.devtools.remoteworkers.v1test2 import bots_pb2, bots_pb2_grpc

# So long the server may wait for work before it answers, in seconds.
POLL = 30
# gRPC's own limit is 4 MiB for a message.
PIECE = 1 << 20


class Store:
    """The server's content-addressable storage."""

    def __init__(self, channel, instance):
        self.streams = bytestream_pb2_grpc.ByteStreamStub(channel)
        self.instance = instance

    def read(self, digest):
        if digest.size_bytes == 0:
            return b""
        name = f"{self.instance}/blobs/{digest.hash}/{digest.size_bytes}"
        request = bytestream_pb2.ReadRequest(resource_name=name)
        return b"".join(piece.data for piece in self.streams.Read(request))

    def message(self, kind, digest):
        message = kind()
        message.ParseFromString(self.read(digest))
        return message

    def write(self, content):
        digest = re.Digest(hash=hashlib.sha256(content).hexdigest(), size_bytes=len(content))
        if content:
            name = f"{self.instance}/uploads/{os.urandom(8).hex()}/blobs/{digest.hash}/{digest.size_bytes}"

            def pieces():
                for start in range(0, len(content), PIECE):
                    data = content[start : start + PIECE]
                    end = start + len(data) == len(content)
                    yield bytestream_pb2.WriteRequest(
                        resource_name=name, write_offset=start, data=data, finish_write=end
                    )

            self.streams.Write(pieces())
        return digest

    def stage(self, digest, to):
        directory = self.message(re.Directory, digest)
        os.makedirs(to, exist_ok=True)
        for file in directory.files:
            path = os.path.join(to, file.name)
            with open(path, "wb") as out:
                out.write(self.read(file.digest))
            os.chmod(path, 0o555 if file.is_executable else 0o444)
        for link in directory.symlinks:
            os.symlink(link.target, os.path.join(to, link.name))
        for node in directory.directories:
            self.stage(node.digest, os.path.join(to, node.name))


def run(store, action_digest):
    action = store.message(re.Action, action_digest)
    command = store.message(re.Command, action.command_digest)
    with tempfile.TemporaryDirectory() as root:
        store.stage(action.input_root_digest, root)
        directory = os.path.join(root, command.working_directory)
        for path in command.output_paths:
            os.makedirs(os.path.dirname(os.path.join(directory, path)), exist_ok=True)
        ended = subprocess.run(
            list(command.arguments),
            cwd=directory,
            env={variable.name: variable.value for variable in command.environment_variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=action.timeout.seconds or None,
        )
        result = re.ActionResult(
            exit_code=ended.returncode,
            stdout_digest=store.write(ended.stdout),
            stderr_digest=store.write(ended.stderr),
        )
        for path in command.output_paths:
            file = os.path.join(directory, path)
            if os.path.isfile(file):
                with open(file, "rb") as content:
                    digest = store.write(content.read())
                executable = os.access(file, os.X_OK)
                result.output_files.add(path=path, digest=digest, is_executable=executable)
        return result


def complete(store, lease):
    digest = re.Digest()
    if lease.payload.Is(re.Action.DESCRIPTOR):
        action = re.Action()
        lease.payload.Unpack(action)
        digest = store.write(action.SerializeToString())
    else:
        lease.payload.Unpack(digest)
    try:
        lease.result.Pack(run(store, digest))
    except Exception as error:
        lease.status.code = grpc.StatusCode.INTERNAL.value[0]
        lease.status.message = repr(error)
    lease.state = bots_pb2.COMPLETED


def main(address, instance, name):
    channel = grpc.insecure_channel(address)
    bots, store = bots_pb2_grpc.BotsStub(channel), Store(channel, instance)
    session = bots_pb2.BotSession(bot_id=name, status=bots_pb2.OK)
    device = session.worker.devices.add(handle=name)
    device.properties.add(key="OSFamily", value="linux")
    session = bots.CreateBotSession(
        bots_pb2.CreateBotSessionRequest(parent=instance, bot_session=session), timeout=POLL
    )
    while True:
        for lease in session.leases:
            if lease.state == bots_pb2.PENDING:
                complete(store, lease)
        session = bots.UpdateBotSession(
            bots_pb2.UpdateBotSessionRequest(name=session.name, bot_session=session), timeout=POLL
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
