#!/usr/bin/env python3
"""Print the devices of NetBox as an inventory of Switchtender, for `[source]` of inventory.toml.

    [source]
    command = ["./netbox.py", "status=active", "tag=switchtender"]

The arguments filter the devices: https://NETBOX/api/docs lists the filters of /api/dcim/devices/.
NETBOX_URL and NETBOX_TOKEN are variables of the environment. Needs Python 3.8 and nothing else.
"""

import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request

# Slugs of platforms in NetBox, and their names here: `switchtender schema inventory` lists them.
PLATFORMS = {
    "cisco-ios": "cisco_ios",
    "cisco-ios-xe": "cisco_ios",
    "f5-big-ip": "f5_bigip",
    "frr": "frr",
    "open-vswitch": "openvswitch",
}


def slug(value):
    """The slug of a nested object, which can be null."""
    return value and value["slug"]


def pages(url, token):
    """All objects of a list, which has pages."""
    while url:
        request = urllib.request.Request(url, headers={
            "Authorization": f"Token {token}",
            "Accept": "application/json",
        })
        with urllib.request.urlopen(request, timeout=30) as answer:
            page = json.load(answer)
        yield from page["results"]
        url = page["next"]


def table(device):
    """The settings of a device."""
    address = device["primary_ip4"] or device["primary_ip6"]
    if not address:
        sys.exit(f"device {device['name']} has no primary address")
    platform = slug(device["platform"])
    if platform not in PLATFORMS:
        sys.exit(f"device {device['name']} has the platform {platform}: add it to PLATFORMS or filter it")
    # NetBox before version 3.6 has `device_role`.
    labels = {"role": slug(device.get("role") or device.get("device_role"))}
    labels.update({f"tag_{tag['slug']}": "true" for tag in device["tags"]})
    return {
        "platform": PLATFORMS[platform],
        "address": address["address"].split("/")[0],
        "site": slug(device["site"]),
        "labels": labels,
    }


def main():
    try:
        base, token = os.environ["NETBOX_URL"], os.environ["NETBOX_TOKEN"]
    except KeyError as missing:
        sys.exit(f"the environment variable {missing.args[0]} is not set")
    query = dict(argument.split("=", 1) for argument in sys.argv[1:])
    query["limit"] = "500"
    url = f"{base.rstrip('/')}/api/dcim/devices/?{urllib.parse.urlencode(query)}"
    try:
        devices = {device["name"]: table(device) for device in pages(url, token)}
    except urllib.error.URLError as error:
        sys.exit(f"cannot read {url}: {error}")
    print(json.dumps({"device": devices}, indent=2))


if __name__ == "__main__":
    main()
