#!/usr/bin/python3
"""Makes a test CA and server certificates with openssl: `python3 certs.py DIR`.

DIR then holds ca.pem; good.pem, expired.pem, wronghost.pem, selfsigned.pem and a .key beside each.
good and expired are for localhost and 127.0.0.1, wronghost for another name, selfsigned is signed
by no CA.
Nothing of this is ever committed: keys are made when a test needs them.
"""

import os
import subprocess
import sys

HERE = "DNS:localhost,IP:127.0.0.1,IP:::1"


def openssl(*args, data=None):
    done = subprocess.run(("openssl", ) + args, input=data, capture_output=True)
    if done.returncode:
        sys.exit("openssl %s: %s" % (args[0], done.stderr.decode("utf-8", "replace")))


def key(path):
    openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", path)


def ca_config(directory):
    path = os.path.join(directory, "ca.cnf")
    open(os.path.join(directory, "index.txt"), "w").close()
    with open(path, "w") as f:
        f.write(
            "[ca]\ndefault_ca=d\n[d]\ndir=%s\ndatabase=$dir/index.txt\n"
            "new_certs_dir=$dir\nrand_serial=yes\n"
            "default_md=sha256\npolicy=p\ncopy_extensions=copy\nunique_subject=no\n"
            "[p]\ncommonName=supplied\n"
            % directory)
    return path


def signed(directory, config, name, names, start, end):
    """A server certificate of the test CA. Dates are YYYYMMDDHHMMSSZ."""
    path = os.path.join(directory, name)
    key(path + ".key")
    openssl("req", "-new", "-key", path + ".key", "-subj",
            "/CN=" + names.split(",")[0].split(":", 1)[1], "-addext", "subjectAltName=" + names,
            "-out", path + ".csr")
    openssl("ca", "-batch", "-config", config, "-cert", os.path.join(directory,
                                                                     "ca.pem"), "-keyfile",
            os.path.join(directory, "ca.key"), "-in", path + ".csr", "-out", path + ".pem",
            "-notext", "-startdate", start, "-enddate", end)


def make(directory):
    directory = os.path.abspath(directory)
    os.makedirs(directory, exist_ok=True)
    ca = os.path.join(directory, "ca")
    key(ca + ".key")
    openssl("req", "-x509", "-new", "-key", ca + ".key", "-subj", "/CN=mock test CA", "-days",
            "3650", "-out", ca + ".pem", "-addext", "basicConstraints=critical,CA:TRUE", "-addext",
            "keyUsage=critical,keyCertSign,cRLSign")
    config = ca_config(directory)
    signed(directory, config, "good", HERE, "20200101000000Z", "20991231235959Z")
    signed(directory, config, "expired", HERE, "20200101000000Z", "20200102000000Z")
    signed(directory, config, "wronghost", "DNS:elsewhere.invalid", "20200101000000Z",
           "20991231235959Z")
    own = os.path.join(directory, "selfsigned")
    key(own + ".key")
    openssl("req", "-x509", "-new", "-key", own + ".key", "-subj", "/CN=localhost", "-days", "3650",
            "-out", own + ".pem", "-addext", "subjectAltName=" + HERE)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: certs.py DIR")
    make(sys.argv[1])
