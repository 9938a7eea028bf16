"""moto, which takes itself for S3: checks signatures and rights as AWS does, and keeps objects in memory.

It makes a bucket, a user who may read and write in it, and one who may only read. Usage: s3.py HOST:PORT BUCKET FOLDER;
FOLDER gets the files `writer` and `reader` with their credentials, in the form of `~/.aws/credentials`. Prints a line when
it is ready, and ends with its input.
"""

import json
import sys
from pathlib import Path

import boto3
from moto import settings
from moto.server import ThreadedMotoServer

REGION = "eu-west-1"
RIGHTS = {
    "writer": ["s3:GetObject", "s3:ListBucket", "s3:PutObject"],
    "reader": ["s3:GetObject", "s3:ListBucket"],
}


def main(address, bucket, folder):
    host, port = address.rsplit(":", 1)
    ThreadedMotoServer(ip_address=host, port=int(port), verbose=False).start()
    url = f"http://{address}"
    anybody = {"aws_access_key_id": "any", "aws_secret_access_key": "any", "region_name": REGION}

    s3 = boto3.client("s3", endpoint_url=url, **anybody)
    s3.create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": REGION})
    iam = boto3.client("iam", endpoint_url=url, **anybody)
    for user, actions in RIGHTS.items():
        iam.create_user(UserName=user)
        resources = [f"arn:aws:s3:::{bucket}", f"arn:aws:s3:::{bucket}/*"]
        statement = {"Effect": "Allow", "Action": actions, "Resource": resources}
        policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        iam.put_user_policy(UserName=user, PolicyName="bucket", PolicyDocument=policy)
        key = iam.create_access_key(UserName=user)["AccessKey"]
        lines = ["[default]", f"aws_access_key_id = {key['AccessKeyId']}"]
        lines.append(f"aws_secret_access_key = {key['SecretAccessKey']}")
        Path(folder, user).write_text("\n".join(lines) + "\n")

    # So many requests need no signature; until here that was no limit.
    settings.INITIAL_NO_AUTH_ACTION_COUNT = 0
    print("ready", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
