"""The objects of deploy/kubernetes, as `kubectl apply -k` would send them, and what a kubelet makes of their pods.

Only what these manifests use is understood; anything else fails.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess

import yaml

from testing import Skip

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "deploy/kubernetes"
KUSTOMIZE_LEAST = 4 # takes a folder as a resource
POD_KEYS = {"serviceAccountName", "automountServiceAccountToken", "enableServiceLinks", "priorityClassName", "nodeSelector",
            "tolerations", "terminationGracePeriodSeconds", "hostPID", "securityContext", "initContainers", "containers",
            "volumes"}
CONTAINER_KEYS = {"name", "image", "imagePullPolicy", "command", "args", "env", "securityContext", "resources",
                  "volumeMounts", "startupProbe", "readinessProbe", "livenessProbe"}


def files_of(folder, images):
    """The objects in a folder's files. Adds its tags to `images`."""
    settings = yaml.safe_load((folder / "kustomization.yaml").read_text())
    understood(settings, {"apiVersion", "kind", "namespace", "resources", "images"})
    images |= {image["name"]: image["newTag"] for image in settings.get("images", [])}
    for name in settings["resources"]:
        path = (folder / name).resolve()
        yield from files_of(path, images) if path.is_dir() else yaml.safe_load_all(path.read_text())


def objects(name):
    """What `kubectl apply -k` sends for that folder."""
    images = {}
    found = list(files_of(FOLDER / name, images))
    for _, pod in pods(found):
        for container in (*pod.get("initContainers", []), *pod["containers"]):
            container["image"] += f":{images[container['image']]}"
    return found


def rendered(name):
    """The same as kubectl prints them."""
    if not shutil.which("kubectl"):
        raise Skip("kubectl not installed")
    version = json.loads(subprocess.run(["kubectl", "version", "--client", "--output", "json"], capture_output=True,
                                        check=True).stdout).get("kustomizeVersion", "v0")
    if int(re.search(r"\d+", version)[0]) < KUSTOMIZE_LEAST:
        raise Skip(f"kubectl has kustomize {version}: too old")
    result = subprocess.run(["kubectl", "kustomize", FOLDER / name], capture_output=True, text=True, check=False)
    assert result.returncode == 0 and not result.stderr, result.stderr
    return list(yaml.safe_load_all(result.stdout))


def named(all_objects, kind, name):
    found = [each for each in all_objects if each["kind"] == kind and each["metadata"]["name"] == name]
    assert len(found) == 1, f"{len(found)} objects are the {kind} {name}"
    return found[0]


def pods(all_objects):
    """(name, specification) of all templates of pods."""
    return [(each["metadata"]["name"], each["spec"]["template"]["spec"])
            for each in all_objects if each["kind"] in ("DaemonSet", "Deployment")]


def understood(what, keys):
    unknown = set(what) - keys
    assert not unknown, f"the test does not understand {sorted(unknown)}"


def in_bytes(quantity):
    number, unit = re.fullmatch(r"(\d+)([KMG]i)?", quantity).groups()
    return int(number) << {None: 0, "Ki": 10, "Mi": 20, "Gi": 30}[unit]


class Pod:
    """One pod of a template on a node. `host` stands for the node's root directory, except for what is in `real`, and
    `files` has the contents of its Secrets and ConfigMaps, by name."""

    def __init__(self, specification, directory, host, real=(), files=None, node="node"):
        understood(specification, POD_KEYS)
        self.specification = specification
        self.node, self.files = node, files or {}
        self.volumes = {volume["name"]: self.volume(volume, directory, host, real)
                        for volume in specification.get("volumes", [])}

    def volume(self, volume, directory, host, real):
        """Returns the path on this host."""
        kind, = set(volume) - {"name"}
        settings = volume[kind]
        path = directory / volume["name"]
        if kind == "hostPath":
            if settings["path"] in real:
                return settings["path"]
            path = host / settings["path"].lstrip("/")
            if settings["type"] == "DirectoryOrCreate":
                path.mkdir(mode=0o755, parents=True, exist_ok=True)
            assert path.exists(), f"the node has no {settings['path']}"
        elif kind == "emptyDir":
            path.mkdir(parents=True)
            if settings.get("medium") == "Memory":
                subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={in_bytes(settings['sizeLimit'])}", "tmpfs", path],
                               check=True)
            path.chmod(0o777)
        elif kind in ("secret", "configMap"):
            path.mkdir(parents=True)
            for name, text in self.files[settings.get("secretName", settings.get("name"))].items():
                if name not in [each["key"] for each in settings.get("items", [{"key": name}])]:
                    continue
                (path / name).write_text(text)
                os.chown(path / name, 0, self.specification["securityContext"]["fsGroup"])
                (path / name).chmod(settings.get("defaultMode", 0o644))
        else:
            raise AssertionError(f"the test does not understand {kind}")
        return path

    def release(self):
        for path in self.volumes.values():
            if os.path.ismount(path) and str(path) not in ("/sys/fs/cgroup",):
                subprocess.run(["umount", path], check=False)

    def container(self, name):
        every = self.specification.get("initContainers", []) + self.specification["containers"]
        found, = [each for each in every if each["name"] == name]
        understood(found, CONTAINER_KEYS)
        return found

    def environment(self, container):
        values = {}
        for each in container.get("env", []):
            source = each.get("valueFrom", {})
            if "fieldRef" in source:
                assert source["fieldRef"] == {"fieldPath": "spec.nodeName"}
                values[each["name"]] = self.node
            elif "configMapKeyRef" in source:
                values[each["name"]] = self.files[source["configMapKeyRef"]["name"]][source["configMapKeyRef"]["key"]]
            else:
                values[each["name"]] = each["value"]
        return values

    def change(self, name, spec):
        """Makes the default specification of OCI that of the container, for a runtime without a kubelet."""
        container = self.container(name)
        pod_context, context = self.specification["securityContext"], container["securityContext"]
        process = spec["process"]
        environment = self.environment(container)

        def expanded(words):
            return [re.sub(r"\$\((\w+)\)", lambda match: environment[match[1]], word) for word in words]

        if "command" in container:
            process["args"] = expanded(container["command"]) + expanded(container.get("args", []))
        else:
            process["args"] += expanded(container.get("args", []))
        process["env"] += [f"{key}={value}" for key, value in environment.items()]
        groups = pod_context.get("supplementalGroups", []) + [pod_context[key] for key in ("fsGroup",) if key in pod_context]
        process["user"] = {"uid": context["runAsUser"], "gid": context["runAsGroup"], "additionalGids": groups}
        process["noNewPrivileges"] = not context["allowPrivilegeEscalation"]
        same_for_all = capabilities(context)
        process["capabilities"] = {kind: same_for_all for kind in ("bounding", "effective", "permitted")}
        spec["root"]["readonly"] = context["readOnlyRootFilesystem"]
        spec["linux"]["resources"]["memory"] = {"limit": in_bytes(container["resources"]["limits"]["memory"])}
        if self.specification.get("hostPID"):
            spec["linux"]["namespaces"] = [each for each in spec["linux"]["namespaces"] if each["type"] != "pid"]
        for mount in container.get("volumeMounts", []):
            options = ["rbind", "rprivate", "ro" if mount.get("readOnly") else "rw"]
            spec["mounts"].append({"type": "bind", "source": str(self.volumes[mount["name"]]),
                                   "destination": mount["mountPath"], "options": options})
        return spec


def capabilities(context):
    assert context["capabilities"]["drop"] == ["ALL"]
    return [f"CAP_{name}" for name in context["capabilities"].get("add", [])]
