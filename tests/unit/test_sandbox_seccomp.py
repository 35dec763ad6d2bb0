"""The filter of system calls, run in an interpreter, for both architectures."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.bpf import ALLOW, ERRNO, KILL, answer

from evalaction.sandbox.runtime import kernel
from evalaction.sandbox.runtime.numbers import Architecture, architectures
from evalaction.sandbox.runtime.seccomp import (
    ADDRESSES,
    ALONE,
    ATTRIBUTES_BARE,
    FORBIDDEN,
    FORBIDDEN_BARE,
    OTHERS,
    Rules,
    program,
)

BOTH = {one.name: one for one in architectures()}
EPERM, EAGAIN, ENOSYS, EOPNOTSUPP, EAFNOSUPPORT = ERRNO | 1, ERRNO | 11, ERRNO | 38, ERRNO | 95, ERRNO | 97
PID = 4321
THREAD = 0x3D0F00
FORK = 0x1200011
ORDINARY = {
    "x86_64": {"read": 0, "write": 1, "mmap": 9, "brk": 12, "openat": 257, "futex": 202, "execve": 59, "getdents64": 217},
    "aarch64": {"read": 63, "write": 64, "mmap": 222, "brk": 214, "openat": 56, "futex": 98, "execve": 221, "getdents64": 61},
}


def ask(one: Architecture, rules: Rules, call: str | int, *arguments: int) -> int:
    number = one.numbers[call] if isinstance(call, str) else call
    return answer(program(one, rules, PID), audit=one.audit, number=number, arguments=arguments)


@pytest.fixture(params=list(BOTH.values()), ids=list(BOTH))
def one(request: pytest.FixtureRequest) -> Architecture:
    assert isinstance(request.param, Architecture)
    return request.param


def test_every_forbidden_name_is_known_to_an_architecture() -> None:
    every = (*FORBIDDEN, *FORBIDDEN_BARE, *OTHERS, *ALONE)
    for name in every:
        assert any(name in known.numbers for known in BOTH.values()), name
    assert len(set(every)) == len(every)


def test_forbidden_calls(one: Architecture) -> None:
    for name in FORBIDDEN:
        if name in one.numbers:
            assert ask(one, Rules(fork=True, network=True), name) == EPERM, name


def test_without_namespaces_more_is_forbidden(one: Architecture) -> None:
    for name in FORBIDDEN_BARE:
        if name in one.numbers:
            assert ask(one, Rules(bare=True, fork=True), name) == EPERM, name
            assert ask(one, Rules(), name) == ALLOW, name


def test_who_starts_no_process_needs_no_calls_about_others(one: Architecture) -> None:
    for name in OTHERS:
        if name in one.numbers:
            assert ask(one, Rules(fork=True), name) == EPERM, name
            assert ask(one, Rules(fork=True, others=True), name) == ALLOW, name
    for name in ALONE:
        if name in one.numbers:
            refused = ENOSYS if name == "preadv2" else EPERM  # for which libraries know another way
            assert ask(one, Rules(others=True), name) == refused, name
            assert ask(one, Rules(fork=True), name) == ALLOW, name
    assert ask(one, Rules(network=True), "sendmmsg", 3) == ALLOW
    for name in ADDRESSES:
        assert ask(one, Rules(fork=True, others=True), name, 3) == EPERM
        assert ask(one, Rules(network=True), name, 3) == ALLOW
    for name in ATTRIBUTES_BARE:
        assert ask(one, Rules(fork=True, bare=True), name) == EOPNOTSUPP
        assert ask(one, Rules(fork=True), name) == ALLOW
    for pid, answered in ((0, ALLOW), (PID, ALLOW), (1, EPERM), (PID + 1, EPERM)):
        assert ask(one, Rules(fork=True, others=True), "prlimit64", pid, 7) == answered


def test_no_datagram_pairs(one: Architecture) -> None:
    for kind, answered in ((1, ALLOW), (5, ALLOW), (1 | 0o2004000, ALLOW), (2, EAFNOSUPPORT), (3, EAFNOSUPPORT)):
        assert ask(one, Rules(network=True), "socketpair", 1, kind) == answered
        assert ask(one, Rules(), "socketpair", 2, kind) == EAFNOSUPPORT


def test_what_python_lives_on_is_allowed(one: Architecture) -> None:
    for rules in (Rules(), Rules(bare=True, signals=False), Rules(fork=True, network=True)):
        for name, number in ORDINARY[one.name].items():
            assert ask(one, rules, number) == ALLOW, name


def test_foreign_architectures_are_killed(one: Architecture) -> None:
    filter_program = program(one, Rules(), PID)
    for audit in (0x40000003, 0x40000028, 0, *(other.audit for other in BOTH.values() if other is not one)):
        assert answer(filter_program, audit=audit, number=0) == KILL


def test_x32_is_killed() -> None:
    one = BOTH["x86_64"]
    for number in (0x40000000, 0x40000000 | 1, 0x40000000 | 101, 0xFFFFFFFF):
        assert ask(one, Rules(), number) == KILL


def test_threads_always_forks_on_request(one: Architecture) -> None:
    assert ask(one, Rules(), "clone", THREAD) == ALLOW
    assert ask(one, Rules(), "clone", FORK) == EAGAIN
    assert ask(one, Rules(fork=True), "clone", FORK) == ALLOW
    assert ask(one, Rules(fork=True), "clone", THREAD) == ALLOW
    assert ask(one, Rules(fork=True), "clone3", 0, 88) == ENOSYS
    for name in ("fork", "vfork"):
        if name in one.numbers:
            assert ask(one, Rules(), name) == EAGAIN
            assert ask(one, Rules(fork=True), name) == ALLOW


def test_no_new_namespaces_by_clone(one: Architecture) -> None:
    for flag in (kernel.CLONE_NEWUSER, kernel.CLONE_NEWNS, kernel.CLONE_NEWPID, kernel.CLONE_NEWNET, kernel.CLONE_NEWCGROUP):
        assert ask(one, Rules(fork=True), "clone", FORK | flag) == EPERM
        assert ask(one, Rules(), "clone", THREAD | flag) == EAGAIN


def test_sockets(one: Architecture) -> None:
    for family in range(46):
        assert ask(one, Rules(), "socket", family, 1) == EAFNOSUPPORT
        assert ask(one, Rules(network=True), "socket", family, 1) == (ALLOW if family in {2, 10, 16} else EAFNOSUPPORT)
        for rules in (Rules(), Rules(network=True)):
            assert ask(one, rules, "socketpair", family, 1) == (ALLOW if family == 1 else EAFNOSUPPORT)


def test_terminals_and_owners_of_descriptors(one: Architecture) -> None:
    for request in (0x5412, 0x541C, 0x8901, 0x8902, 0x40086602, 0x401C5820, 0x40087602, 0x40086604, 0x40806685, 0x800C6613):
        assert ask(one, Rules(), "ioctl", 0, request) == EPERM
        assert ask(one, Rules(), "ioctl", 0, request | 0xFFFFFFFF00000000) == EPERM
    assert ask(one, Rules(), "ioctl", 0, 0x5401) == ALLOW
    for command in (8, 10, 15, 1031):
        assert ask(one, Rules(fork=True), "fcntl", 0, command) == EPERM
        assert ask(one, Rules(others=True), "fcntl", 0, command) == ALLOW
    for command in (1024, 1026, 1036, 1038):  # leases, notices, hints: on files that all can read
        assert ask(one, Rules(fork=True, others=True), "fcntl", 0, command) == EPERM
    for command in (1, 2, 3, 4, 5, 6, 7, 1025, 1030, 1032):
        assert ask(one, Rules(bare=True), "fcntl", 0, command) == ALLOW
    for rules, refused in ((Rules(), {22, 62}), (Rules(fork=True), {62}), (Rules(bare=True), {1, 4, 22, 36, 62})):
        assert {option for option in range(80) if ask(one, rules, "prctl", option, 0) == EPERM} == refused
    assert ask(one, Rules(bare=True), "prctl", 1, 0) == EPERM
    assert ask(one, Rules(bare=True), "prctl", 15, 0) == ALLOW


def test_signals_only_to_itself(one: Architecture) -> None:
    quiet = Rules(bare=True, signals=False)
    for call in ("kill", "tgkill"):
        assert ask(one, quiet, call, PID, 9) == ALLOW
        for pid in (1, PID + 1, 0, 0xFFFFFFFF, 2**64 - 1):
            assert ask(one, quiet, call, pid, 9) == EPERM
            assert ask(one, Rules(bare=True), call, pid, 9) == ALLOW


@settings(max_examples=100)
@given(
    name=st.sampled_from(sorted(BOTH)),
    fork=st.booleans(),
    network=st.booleans(),
    bare=st.booleans(),
    signals=st.booleans(),
    number=st.integers(0, 2**32 - 1) | st.integers(0, 500),
    arguments=st.lists(st.integers(0, 2**64 - 1), max_size=6),
)
def test_every_call_has_an_answer_and_forbidden_ones_are_never_allowed(
    name: str, fork: bool, network: bool, bare: bool, signals: bool, number: int, arguments: list[int]
) -> None:
    one = BOTH[name]
    given_answer = ask(one, Rules(fork=fork, network=network, bare=bare, signals=signals), number, *arguments)
    assert given_answer in {ALLOW, KILL, EPERM, EAGAIN, ENOSYS, EOPNOTSUPP, EAFNOSUPPORT}
    if number in {one.numbers[call] for call in FORBIDDEN if call in one.numbers}:
        assert given_answer == EPERM


@pytest.mark.parametrize(
    ("name", "places"),
    [
        ("x86_64", ["/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/asm/unistd_64.h"]),
        ("aarch64", ["/usr/include/asm-generic/unistd.h"]),
    ],
)
def test_the_numbers_are_the_kernels(name: str, places: list[str]) -> None:
    header = next((Path(place) for place in places if Path(place).exists()), None)
    if header is None:
        pytest.skip("the headers of the kernel are not installed")
    pattern = re.compile(r"#define __NR(?:3264)?_(\w+)\s+(\d+)$", re.MULTILINE)
    known = {call: int(number) for call, number in pattern.findall(header.read_text())}
    ours = BOTH[name].numbers
    assert {call: number for call, number in ours.items() if call in known and known[call] != number} == {}
    assert len(set(ours.values())) == len(ours)
    newer = set(ours) - set(known)
    assert all(ours[call] >= 450 for call in newer), newer
