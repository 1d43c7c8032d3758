"""`python -m urchin_research` is the command `research`."""

from agent.cli import main

if __name__ == "__main__":
    main()
