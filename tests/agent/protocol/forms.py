"""One example of each form in which models write calls, with the row of the table that reads it."""

from __future__ import annotations

BAR, LOW = "\uff5c", "\u2581"  # the bars and blanks of DeepSeek's tokens


def examples(name: str, field: str, value: str) -> dict[str, str]:
    """Return calls of a tool with one field, by form."""
    args = f'{{"{field}": "{value}"}}'
    call = f'{{"name": "{name}", "arguments": {args}}}'
    python = f'{name}({field}="{value}")'
    calls, one = f"tool{LOW}calls{LOW}", f"tool{LOW}call{LOW}"
    begin, end = f"<{BAR}{one}begin{BAR}>", f"<{BAR}{one}end{BAR}>"
    invoke = f'<invoke name="{name}">\n<parameter name="{field}">{value}</parameter>\n</invoke>'
    dsml = f"{BAR}DSML{BAR}"
    return {
        "anthropic": f"<function_calls>\n{invoke}\n</function_calls>",
        "minimax": f"<minimax:tool_call>\n{invoke}\n</minimax:tool_call>",
        "dsml": f'<{dsml}function_calls>\n<{dsml}invoke name="{name}">\n'
        f'<{dsml}parameter name="{field}" string="true">{value}</{dsml}parameter>\n'
        f"</{dsml}invoke>\n</{dsml}function_calls>",
        "qwen3-coder": f"<tool_call>\n<function={name}>\n<parameter={field}>\n{value}\n"
        "</parameter>\n</function>\n</tool_call>",
        "llama 3.1": f"<function={name}>{args}</function>",
        "deepseek v3": f"<{BAR}{calls}begin{BAR}>{begin}function<{BAR}tool{LOW}sep{BAR}>{name}\n"
        f"```json\n{args}\n```{end}<{BAR}{calls}end{BAR}>",
        "deepseek v3.1": f"{begin}{name}<{BAR}tool{LOW}sep{BAR}>{args}{end}",
        "kimi": f"<|tool_calls_section_begin|><|tool_call_begin|>functions.{name}:0"
        f"<|tool_call_argument_begin|>{args}<|tool_call_end|><|tool_calls_section_end|>",
        "glm": f"<tool_call>{name}\n<arg_key>{field}</arg_key>\n<arg_value>{value}</arg_value>\n"
        "</tool_call>",
        "harmony": "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>commentary "
        f"to=functions.{name} <|constrain|>json<|message|>{args}<|call|>",
        "lfm2": f"<|tool_call_start|>[{python}]<|tool_call_end|>",
        "gemma 4": f'<|tool_call>call:{name}{{{field}:<|"|>{value}<|"|>}}<tool_call|>',
        "functiongemma": f"<start_function_call>call:{name}{{{field}:<escape>{value}<escape>}}"
        "<end_function_call>",
        "gemma 3": f"```tool_code\nprint({python})\n```",
        "granite": f"<|tool_call|>[{call}]",
        "mistral": f"[TOOL_CALLS]{name}{args}",
        "mistral with ids": f"[TOOL_CALLS]{name}[CALL_ID]a1b2[ARGS]{args}",
        "llama": f"<|python_tag|>{call}<|eom_id|>",
        "llama's builtin": f'<|python_tag|>{name}.call({field}="{value}")',
        "llama 4": f"<|python_start|>[{python}]<|python_end|>",
        "bare python": f"[{python}]",
        "internlm": f"<|action_start|><|plugin|>\n{call}<|action_end|>",
        "command-r": f"<|START_ACTION|>[{call}]<|END_ACTION|>",
        "phi-4": f"functools[{call}]",
        "hermes": f"<tool_call>\n{call}\n</tool_call>",
        "olmo": f"<function_calls>\n{python}\n</function_calls>",
        "a fence": f"```json\n{call}\n```",
    }
