"""Content: articles, their categories, and the configuration of the public site."""

from __future__ import annotations

from plugins.api import Job, Listener, Message, Plugin, routes_of
from plugins.api.events import DATA_RESET
from plugins.cms import articles, categories, demo, feeds, previews, public, publication, revisions, site, tables
from plugins.cms.dictionaries import DICTIONARIES
from plugins.cms.editing import VIEWS
from plugins.cms.lifespan import prepare, restore_defaults, start
from plugins.cms.menus import MENUS, PERMISSIONS
from plugins.cms.records import ARTICLES, CATEGORIES, REVISIONS, SITE
from plugins.cms.settings import CmsSettings

_PUBLISH = Message("按时发布定时文章", "Publish scheduled articles that are due")

plugin = Plugin(
    name="cms",
    title=Message("内容管理", "Content"),
    requires=("rbac", "system"),
    settings=CmsSettings,
    start=start,
    prepare=prepare,
    listens=(Listener(DATA_RESET, restore_defaults),),
    jobs=(Job("cms.publish", "cms_publish_seconds", publication.publish_due, _PUBLISH),),
    demo=demo.load,
    collections=(CATEGORIES, ARTICLES, REVISIONS, SITE),
    biz_types={"ARTICLE": ARTICLES},
    dictionaries=DICTIONARIES,
    routes=routes_of(public, feeds, articles, publication, previews, revisions, categories, site, tables),
    menus=MENUS,
    views=VIEWS,
    permissions=PERMISSIONS,
)
