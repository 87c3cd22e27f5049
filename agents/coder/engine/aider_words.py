"""Runs inside the engine's box: what Aider 0.86.2 tells a model, in our words and in our order.

Aider speaks to somebody who adds files to a chat, answers questions and says "go ahead". Here nobody does: a model that
waits for an answer has answered nothing. Its rules are sent once. Files come in the order in which they were given, as
a vendor keeps only what begins with the same bytes; long ones are shown by their parts.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

SYSTEM = """Act as an expert software developer.
Use best practices, and the conventions and libraries of the code around your change.
{final_reminders}
You get one task and all that there is for it. Nobody answers questions.
Change the files that the task names, create those that it says are to be created, and no others.

1. Think, and say in a few short sentences what has to change.
2. Describe each change with a *SEARCH/REPLACE block*, as in the examples. Code stands in such blocks only.
"""
RULES = """# *SEARCH/REPLACE block* rules

1. The whole path of the file alone on a line, as it is shown: nothing around it, nothing escaped.
2. The opening fence and the language: {fence[0]}python
3. <<<<<<< SEARCH
4. Lines of the file, as they are now
5. =======
6. The lines that take their place
7. >>>>>>> REPLACE
8. The closing fence: {fence[1]}
{quad_backtick_reminder}
The SEARCH part must be in the file *exactly* so, character for character, with all comments and blanks. Of a file whose
code is wrapped in something else (JSON, XML, quotes), it is the literal content.
A block replaces the first match only: take enough lines to make it the only one, and no long runs of lines that stay.
Rather several small blocks than a large one. To move code, delete it with one block and insert it with another.
A new file: its path, an empty SEARCH part, and its content as the REPLACE part.
"""


def speak(prompts: Any) -> None:
    """`prompts`: Aider's texts for this form of edits."""
    prompts.main_system, prompts.system_reminder = SYSTEM, RULES
    prompts.files_content_prefix = "These files are to be edited. Trust this as what they hold now.\n"
    prompts.files_content_assistant_reply = "Ok."
    prompts.files_no_full_files = "No file that exists is to be edited."
    prompts.read_only_files_prefix = "These files are for reading only: do not edit them.\n"
    prompts.go_ahead_tip = ""


def show(base: Any, order: Sequence[str], views: Mapping[str, str]) -> None:
    """`base`: Aider's module of all coders; `order`: paths as they were given.

    `views`: what is shown of a long file in place of all of it.
    """
    places = {path: place for place, path in enumerate(order)}

    def contents(self: Any, names: Any) -> Iterator[tuple[str, str]]:
        found = {name: self.get_rel_fname(name).replace("\\", "/") for name in names}
        for name in sorted(found, key=lambda name: (places.get(found[name], len(places)), found[name])):
            text = views.get(found[name]) or self.io.read_text(name)
            if text is not None:
                yield name, text

    def to_edit(self: Any) -> Iterator[tuple[str, str]]:
        return contents(self, self.abs_fnames)

    def to_read(self: Any) -> str:
        shown = contents(self, self.abs_read_only_fnames)
        return "".join(f"\n{self.get_rel_fname(n)}\n{self.fence[0]}\n{text}{self.fence[1]}\n" for n, text in shown)

    base.Coder.get_abs_fnames_content, base.Coder.get_read_only_files_content = to_edit, to_read
