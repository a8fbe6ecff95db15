"""Does the server take the histories that agents really send?"""
