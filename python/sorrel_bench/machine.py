"""Properties of a machine that are needed to read a result measured on it."""

import datetime
import os
import pathlib
import platform
import shutil
import subprocess

from .disturbance import RUNS


def _first_line(*command: str) -> str:
    if shutil.which(command[0]) is None:
        return ""
    out = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return out.splitlines()[0] if out else ""


def _read(path: str) -> str:
    try:
        return pathlib.Path(path).read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def _cpuinfo(key: str) -> str:
    for line in _read("/proc/cpuinfo").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == key:
            return value.strip()
    return ""


def distinct_cores() -> list[int]:
    """CPUs this process may use, one of each core."""
    seen: set[str] = set()
    cpus = []
    for cpu in sorted(os.sched_getaffinity(0)):
        siblings = _read(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list") or str(cpu)
        if siblings not in seen:
            seen.add(siblings)
            cpus.append(cpu)
    return cpus


def load() -> float:
    """Runnable processes, a mean over the last minute."""
    return os.getloadavg()[0]


def real_time_priority() -> int:
    """The real-time priority of this process, which its children inherit; 0 without one."""
    is_real_time = os.sched_getscheduler(0) in (os.SCHED_FIFO, os.SCHED_RR)
    return os.sched_getparam(0).sched_priority if is_real_time else 0


def raise_priority() -> None:
    """Raises the real-time priority of this process by one."""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(real_time_priority() + 1))


def after_runs() -> dict:
    """To be added to describe() after the measurements."""
    return {"load_after": load(), "other_work": RUNS.foreign_share}


def describe() -> dict:
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "processor": _cpuinfo("model name") or platform.processor() or platform.machine(),
        "cpus": os.cpu_count(),
        "cpus_allowed": sorted(os.sched_getaffinity(0)),
        "is_virtual": "hypervisor" in _cpuinfo("flags").split(),
        "governor": _read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "memory_kib": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 1024,
        "kernel": platform.release(),
        "system": platform.freedesktop_os_release().get("PRETTY_NAME", "")
        if os.path.exists("/etc/os-release")
        else "",
        "compiler": _first_line("cc", "--version"),
        "real_time_priority": real_time_priority(),
        "load_before": load(),
    }
