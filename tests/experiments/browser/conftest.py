from tests.browser.fixtures import admin, company, console, maker, people, the_browser

__all__ = ["admin", "company", "console", "maker", "people", "the_browser"]
