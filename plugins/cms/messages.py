"""The messages of cms."""

from plugins.api import Message

ALREADY_PUBLISHED = Message("文章已发布", "The article is already published")
NOT_PUBLIC = Message("文章未发布，也未定时发布", "The article is neither published nor scheduled")
PUBLISHED_SINCE = Message(
    "文章已发布，不能更改发布时间", "The article is published; its publication time can no longer be changed"
)
NEEDS_ITS_TIME = Message(
    "定时发布的文章必须有发布时间，请先下线", "A scheduled article needs a publication time; unpublish it first"
)
UNDER_ITSELF = Message(
    "不能将栏目移动到自身或其下级栏目", "A category cannot be moved under itself or one of its sub-categories"
)
HAS_CHILDREN = Message("该栏目下有子栏目，不能删除", "The category has sub-categories, so it cannot be deleted")
HAS_ARTICLES = Message("该栏目下有文章，不能删除", "The category has articles, so it cannot be deleted")

# shown by GET /authorization/explain
NOT_PUBLISHED = Message("没有该文章，或文章未发布", "There is no such article, or it is not published")
BAD_LINK = Message(
    "预览链接有误或已过期，或文章已删除", "The preview link is invalid or has expired, or the article was deleted"
)
NO_REVISION = Message("该文章没有这个版本", "The article has no such revision")
