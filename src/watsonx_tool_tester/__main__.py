"""`python -m watsonx_tool_tester`."""

from watsonx_tool_tester.cli import main

if __name__ == "__main__":
    main()
