"""One journal format for agents and trees: an append-only file of checked lines (DESIGN section 7).

envelope   one line: {v, seq, ts, type, body, crc}     pure
entries    the typed bodies                            pure
log        open, lock, repair, append, read            the only module that touches a file
"""
