"""The scripted endpoint: a real HTTP server that speaks the model wire from a file of replies (docs/scripted.md).

replies    the file: its structs and its errors          pure
script     which reply a request gets                    pure
render     a reply as the bytes of the wire              pure
server     the HTTP server, also for use inside a test
__main__   the server as a process of its own
"""
