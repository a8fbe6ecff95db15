"""Does the server obey what the request says about calling?"""
