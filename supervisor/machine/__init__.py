"""The pure core of supervision: what is decided about the processes of a run (DESIGN sections 1 and 5).

    machine    the one entry: events in, effects out; the rules between lives
    life       what every child goes through               aftermath  group killed, orphans swept, reaped
    agent      the life of an agent, as a table            service    the life of a service, as a table
    liveness   signs of life -> verdict                    ladder     cancel, SIGTERM, SIGKILL, and when
    ledger     what was minted, reported and settled       settle     the one terminal record
    events, effects, states, settings                      the words of all of them

Nothing here does IO, reads a clock or draws a random number; `now` is CLOCK_MONOTONIC seconds and is passed in.
"""
