#!/usr/bin/env python3
"""Prints the license texts of all crates in the program: texts that are equal are printed once."""
import json
import pathlib
import subprocess

NAMES = ("license", "licence", "copying", "copyright", "notice", "unlicense")

host = next(
    line.split()[1]
    for line in subprocess.check_output(["rustc", "-vV"], text=True).splitlines()
    if line.startswith("host: ")
)
metadata = json.loads(subprocess.check_output(
    ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", host]
))
packages = {package["id"]: package for package in metadata["packages"]}
nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
pending, reached = [metadata["resolve"]["root"]], set()
while pending:
    node = pending.pop()
    if node not in reached:
        reached.add(node)
        for dependency in nodes[node]["deps"]:
            if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                pending.append(dependency["pkg"])

users = {}
for package in sorted((packages[node] for node in reached), key=lambda package: (package["name"], package["version"])):
    if package["source"] is None:
        continue
    name = f"{package['name']} {package['version']} ({package['license']})"
    folder = pathlib.Path(package["manifest_path"]).parent
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name.lower().startswith(NAMES))
    for path in files:
        users.setdefault(path.read_text(errors="replace").strip(), []).append(name)
    if not files:
        users.setdefault("(the crate has no file with its license)", []).append(name)
for text, names in users.items():
    print("=" * 100, *names, "", text, "", sep="\n")
