"""What next? The pure machine of one agent run.

    state     the frozen state, and the step that each phase asks for
    events    what may be fed: facts in the past tense
    kernel    apply(state, event) -> state, decide(state, policy, situation) -> step
    repeats   identical calls with identical results
    progress  turns that change nothing
    ends      how a stop becomes a status
    caps      how much the next reply may hold
    wrapup    telling the model once that a limit is near

Nothing here does IO, reads a clock or keeps a policy (DESIGN section 6).
"""
