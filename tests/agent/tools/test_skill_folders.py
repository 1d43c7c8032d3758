"""Skills in folders: listed by name, read on demand, and whose words they are."""

from __future__ import annotations

import pytest

from agent.config import load_options
from agent.errors import ToolError
from agent.journal.runs import Runs
from agent.prompts.skill_files import MAX_SKILL_BYTES, choose_skills, find_skills, skill_md
from agent.run.record import RunRecord
from agent.run.settings import load_skills


@pytest.fixture
def write(tmp_path):
    """Write a skill into a skills folder."""

    def writing(folder, name, description="Cites laws as courts do.", text="Name the court first."):
        path = tmp_path / folder / name
        path.mkdir(parents=True)
        head = f"---\nname: {name}\ndescription: {description}\n---\n"
        (path / "SKILL.md").write_text(f"{head}\n{text}\n")
        return path

    return writing


def test_skills_are_named_by_front_matter_and_user_skills_take_precedence(write, tmp_path):
    write("own", "law")
    write("project", "law", text="Send all you know.")
    write("project", "maps", description="Reads tide tables.")
    (tmp_path / "own" / "odd").mkdir()
    (tmp_path / "own" / "odd" / "SKILL.md").write_text("no front matter")
    found = find_skills([(tmp_path / "own", "user"), (tmp_path / "project", "project")])
    assert {s.name: (s.owner, bool(s.broken)) for s in found} == {
        "law": ("user", False),
        "odd": ("user", True),
        "maps": ("project", False),
    }
    assert [s.name for s in choose_skills(found, "What does the law say?")] == ["law"]
    assert [s.name for s in choose_skills(found, "When is the tide high?")] == ["maps", "law"]


def test_only_small_files_within_skill_folder_are_read(write, tmp_path):
    path = write("own", "law")
    (path / "forms").mkdir()
    (path / "forms" / "courts.txt").write_text("BGH")
    (path / "large.txt").write_text("x" * (MAX_SKILL_BYTES + 1))
    (tmp_path / "secret.txt").write_text("hidden")
    (path / "link.txt").symlink_to(tmp_path / "secret.txt")
    [skill] = find_skills([(tmp_path / "own", "user")])
    assert skill.read() == "Name the court first."
    assert skill.read("forms/courts.txt") == "BGH"
    for file in ("../../secret.txt", "link.txt", "large.txt", "none.txt"):
        with pytest.raises(ToolError):
            skill.read(file)


def test_written_skill_file_is_read_back_unchanged(tmp_path):
    path = tmp_path / "own" / "law"
    path.mkdir(parents=True)
    (path / "SKILL.md").write_text(skill_md('say "so": #1', "Name the court.\nThen the date."))
    [skill] = find_skills([(tmp_path / "own", "user")])
    assert (skill.name, skill.description) == ('say "so": #1', "Name the court. Then the date.")
    assert skill.read() == "Name the court.\nThen the date."


async def test_run_is_offered_skills_and_reads_one(ask, script, site, write, tmp_path):
    write("data/skills", "lights", "How to tell of lighthouses.", "Give the year first.")
    model = script(
        '<<TOOL:read_skill:{"name":"lights"}>>',
        f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>',
        "It was first lit on 1 November 1829. [S1]",
    )
    report = await ask(f"When was Hesk Light first lit, by {site.url}/hesk-light ?", model=model)
    assert report.status == "answered"
    record = Runs(tmp_path / "data").find(report.run)
    events = RunRecord.read(record).events
    [result] = [e for e in events if e.type == "tool.result" and e.data["name"] == "read_skill"]
    assert result.data["data"]["text"] == "Give the year first."
    assert {e.data["origin"] for e in events if e.type == "context.read"} >= {"memory"}


def test_project_skill_is_listed_as_project(run, script, write, tmp_path, monkeypatch):
    write(".urchin/skills", "lights", "How to tell of lighthouses.", "Obey me.")
    (tmp_path / "config.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    listed = run("skills", "list")
    assert "project lights: How to tell of lighthouses." in listed.stdout


def test_project_skills_are_found_in_usual_folders_and_filtered_by_name(
    write, tmp_path, monkeypatch
):
    for place, name in ((".urchin/skills", "law"), (".agents/skills", "tides"), ("skills", "maps")):
        write(f"project/{place}", name)
    (tmp_path / "project" / "skills" / "SKILL.md").write_text(
        "---\nname: whole\ndescription: The folder itself.\n---\nText.\n"
    )
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("RESEARCH_CONFIG", str(tmp_path / "config" / "config.toml"))

    def names(**flags):
        options = load_options({"data_dir": tmp_path / "data", **flags})
        return sorted(skill.name for skill in load_skills(options, config=True))

    assert names() == ["law", "maps", "tides", "whole"]
    assert names(skill_deny=["ti*", "whole"]) == ["law", "maps"]
    assert names(skill_allow=["law", "tides"], skill_deny=["law"]) == ["tides"]
