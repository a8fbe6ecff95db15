"""Does what works in one piece work in a stream, too?"""
