"""`python -m llm_tool_calling_tester`."""

from llm_tool_calling_tester.main import main

if __name__ == "__main__":
    main()
