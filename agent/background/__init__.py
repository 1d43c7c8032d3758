"""The background jobs of a conversation: what an answered question leaves in memory.

They run when the answer was delivered and are waited for, one after the other: signals of
satisfaction every turn, a summary every third, profile every fifth, condensation past forty
turns, scores of skills every tenth, and after every seventh, if it was verified, new ones are
proposed, as in the reference engine. Each sees what the person wrote and what was answered, never
a page or a tool result.
"""
