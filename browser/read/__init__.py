"""Reading: a URL in, a Page out, by plain HTTP where that is enough, else by the browser."""

from browser.read.habits import Habit, Habits
from browser.read.pages import read_rendered
from browser.read.reader import Reader

__all__ = ["Habit", "Habits", "Reader", "read_rendered"]
