"""Authorities of certificates with SPIFFE ids, and what a client does TLS with."""

import ssl
import subprocess

import grpc


class Tls:
    """What a workload shows, if anything, and trusts, as each client's library wants it."""

    def __init__(self, folder, name=None):
        authority, own = folder / "ca.pem", [folder / f"{name}.{kind}" for kind in ("key", "pem") if name]
        self.credentials = grpc.ssl_channel_credentials(*(file.read_bytes() for file in [authority, *own]))
        self.context = ssl.create_default_context(cafile=authority)
        if own:
            self.context.load_cert_chain(*reversed(own))


class Authority:
    """Signs certificates with SPIFFE ids, into a folder, in which its own has this name."""

    def __init__(self, folder, name="ca"):
        self.folder, self.name = folder, name
        self.make(name, "-subj", f"/CN={name} of example.org", "-addext", "basicConstraints=critical,CA:TRUE")

    def sign(self, name, path):
        names = f"subjectAltName=URI:spiffe://example.org{path},IP:127.0.0.1"
        signed = ["-CA", self.folder / f"{self.name}.pem", "-CAkey", self.folder / f"{self.name}.key"]
        is_leaf = "basicConstraints=critical,CA:FALSE"
        self.make(name, "-subj", f"/CN={name}", "-addext", names, "-addext", is_leaf, *signed)

    def make(self, name, *options):
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        command += ["-days", "2", "-keyout", self.folder / f"{name}.key", "-out", self.folder / f"{name}.pem", *options]
        subprocess.run(command, check=True, capture_output=True)
