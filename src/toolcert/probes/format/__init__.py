"""Do calls and structured answers survive every form they can be asked in?"""
