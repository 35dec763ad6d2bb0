"""The method: what the words mean and what the numbers are. Pure: no disk, network, git, clock, environment or printing.

reading → cards, exams → (draws happen elsewhere) → counting → judging → telling; `records`, `numbers`, `card` and `report`
hold what all of them share, `plan` and `question` what is known before any call.
"""
