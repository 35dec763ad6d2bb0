#!/usr/bin/env bash
# What a step of somebody else's job must leave as it was: packages, variables, git configuration, work tree.
set -euo pipefail
python3 -I -m pip freeze --all 2>/dev/null || true
env | grep -vE '^(GITHUB_(ACTION|ENV|PATH|OUTPUT|STATE|STEP_SUMMARY)|RUNNER_TRACKING_ID|SHLVL|_)=' | LC_ALL=C sort
git config --list --show-origin
git status --porcelain --ignored
