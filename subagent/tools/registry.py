"""The tools of one agent: which are offered, and what is said of a name that is not among them. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from subagent.tools.bounded import shown
from subagent.tools.types import Tool, ToolSpec


class Registry:
    """Tools by name, exactly as spelt. `granted` is `Scope.tools`: None grants all of them, () none."""

    def __init__(self, tools: Sequence[Tool], granted: tuple[str, ...] | None) -> None:
        """Raises ValueError if two tools have one name."""
        self._tools = {tool.spec.name: tool for tool in tools}
        if len(self._tools) != len(tools):
            raise ValueError("two tools have the same name")
        self._granted = frozenset(self._tools if granted is None else granted)

    def specs(self) -> tuple[ToolSpec, ...]:
        """The granted tools, in the order in which they were given."""
        return tuple(tool.spec for name, tool in self._tools.items() if name in self._granted)

    def find(self, name: str) -> Tool | str:
        """The granted tool of this name, or the text that tells the model why there is none."""
        tool = self._tools.get(name)
        if tool is None:
            return f"there is no tool {shown(name)}. {self._offered()}"
        if name not in self._granted:
            return f"the tool {shown(name)} is not granted to this agent. {self._offered()}"
        return tool

    def _offered(self) -> str:
        names = [spec.name for spec in self.specs()]
        return f"The tools are: {', '.join(names)}" if names else "This agent has no tools: answer without them"
