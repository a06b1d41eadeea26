"""The messages of files."""

from plugins.api import Message

TYPE_REFUSED = Message("不支持的文件类型：{type}", "Files of this type are not taken: {type}")
TYPE_CONTRADICTS = Message("文件内容与其类型不符：{type}", "The content is not what the name or the type says: {type}")
TWO_THINGS = Message("文件同时是另一种格式的文件", "The file is a file of another format as well")
BROKEN_IMAGE = Message(
    "图片已损坏、过大或包含其他内容", "The image is broken, has too many pixels, or holds something else"
)
ACTIVE_SVG = Message("SVG 已损坏或包含脚本、外部引用", "The SVG is broken, or holds a script or refers to the outside")
FILE_TOO_LARGE = Message("文件过大，最大 {bytes} 字节", "The file is too large; at most {bytes} bytes")
OTHER_THAN_SIGNED = Message("上传内容与签名不符", "The upload is not what was signed, or its time is over")
UPLOADED_ALREADY = Message("该地址的文件已上传", "The file of this address was uploaded already")
STORAGE_AWAY = Message("文件存储暂不可用，请稍后重试", "The file storage is out of reach; try later")
NOT_YOURS_TO_DELETE = Message(
    "只有上传者或可修改该记录的人可以删除附件", "Only who uploaded it, or may change the record, deletes an attachment"
)

# shown by GET /authorization/explain
NOT_READABLE = Message(
    "没有该文件，或您无权读取：它不是公开文件、不是您上传的，也未附在您能看到的记录上",
    "There is no such file that you may read: a public one, your own, or one attached to a record that you see",
)
NOT_PUBLIC = Message("没有该公开文件", "There is no such public file")
RECORD_UNSEEN = Message("没有该业务记录，或您无权查看", "There is no such business record, or you may not see it")
NO_ATTACHMENT = Message(
    "没有该附件，或您无权查看其业务记录", "There is no such attachment, or you may not see the record that it is of"
)
