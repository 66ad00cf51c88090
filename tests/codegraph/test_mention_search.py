"""The lines that hold one of some words."""

from morph_tasks.codegraph.mention_search import search
from morph_tasks.repo.git import open_repo
from tests.conftest import Project


def test_the_words_of_a_line_are_told_whole_and_in_one_run(project: Project) -> None:
    project.write("a b.txt", "get or get_all\nforget\nget_all(get)\nnothing\n")
    project.write("$.txt", "a $el b\nel\nc++ and c\nc++\n")
    project.commit()
    lines, whole = search(open_repo(project.root), ["c", "get", "get_all", "$el", "c++"])
    assert whole
    assert [(one.path, one.line, set(one.words)) for one in lines] == [
        ("$.txt", 1, {"$el"}),
        ("$.txt", 3, {"c++", "c"}),
        ("$.txt", 4, {"c++"}),
        ("a b.txt", 1, {"get", "get_all"}),
        ("a b.txt", 3, {"get", "get_all"}),
    ]


def test_the_folder_of_plans_and_logs_is_not_searched(project: Project) -> None:
    project.write(".morph/features/cart/2-plan/plan.md", "get the cart\n")
    project.write("docs/.morph.md", "get the cart\n")
    lines, _ = search(open_repo(project.root), ["get"])
    assert [one.path for one in lines] == ["docs/.morph.md"]
