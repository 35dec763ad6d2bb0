"""The box in which model-written code, checks and teams' own programs run.

`rung = find_rung(allow_unsafe=False, image=None)` finds what this machine gives (UsageError `no_isolation`), then

    async with Box(spec, rung) as box:
        process = await box.start(task)
        ending = await process.wait()

starts one zygote for the box and one fork of it for each task. Any number of tasks run at once; `process.kill()` ends one,
leaving the block ends all. What goes wrong with the box itself is a SandboxError.
"""
