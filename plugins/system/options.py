"""Settings of the whole platform that administrators change while it runs; every client may read them."""

from plugins.api import Message, Option, link, text

OPTIONS = (
    Option(
        "site_name", text(max_length=100, default="Tradewind"), Message("网站名称", "Name of the site"), public=True
    ),
    Option("site_logo", link(key=True), Message("网站徽标地址", "Address of the site's logo"), public=True),
    Option("site_description", text(max_length=500), Message("网站简介", "Description of the site"), public=True),
    Option("icp_number", text(max_length=100), Message("ICP 备案号", "ICP filing number"), public=True),
    Option("copyright", text(max_length=200), Message("版权信息", "Copyright notice"), public=True),
    Option(
        "contact_email", text(max_length=200, format="idn-email"), Message("联系邮箱", "Contact e-mail"), public=True
    ),
    Option("contact_phone", text(max_length=50), Message("联系电话", "Contact phone"), public=True),
)
