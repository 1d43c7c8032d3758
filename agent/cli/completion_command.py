"""`research completion`: what a shell needs to complete commands and flags."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

_HOW = """\b
  bash:  echo 'eval "$(research completion bash)"' >> ~/.bashrc
  zsh:   echo 'eval "$(research completion zsh)"' >> ~/.zshrc
  fish:  research completion fish > ~/.config/fish/completions/research.fish
"""


@click.command(epilog=_HOW)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script that completes commands and flags in SHELL."""
    kind = get_completion_class(shell)
    assert kind is not None, "click knows these three"
    name = ctx.find_root().info_name or "research"
    variable = f"_{name.replace('-', '_').upper()}_COMPLETE"
    print(kind(ctx.find_root().command, {}, name, variable).source())
